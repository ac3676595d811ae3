"""Faults of MEM-R001: durable objects that come back without their envelope, or with another one."""

from __future__ import annotations

import json
from typing import Any

from conformance.oracle import activation, records, reviews
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Turn
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, patched

RULE = "MEM-R001"


def _bare(member: str) -> Any:
    def change(_turn: Turn, _space: Space, members: Doc) -> Doc:
        return {**members, member: {**members[member], "extensions": {}}}

    return change


def _without_extensions(_turn: Turn, _space: Space, members: Doc) -> Doc:
    documents = [{name: value for name, value in one.items() if name != "extensions"} for one in members["documents"]]
    return {**members, "documents": documents}


def _with_internals(_turn: Turn, space: Space, members: Doc) -> Doc:
    grants = [{**one, "issued_under": list(space.issued_under.get(one["grant_id"], ()))} for one in members["grants"]]
    return {**members, "grants": grants}


def _without_kind(_turn: Turn, _space: Space, members: Doc) -> Doc:
    return {**members, "subject": {name: value for name, value in members["subject"].items() if name != "kind"}}


def _rebuilding(original: Any) -> Any:
    def stored(turn: Turn, space: Space, record: Doc, **members: Any) -> Any:
        if turn.op.stem == "records.update":
            provenance = {"source": record["provenance"]["source"], "created_by": turn.caller}
            record = {**record, "extensions": {}, "provenance": provenance}
        return original(turn, space, record, **members)

    return stored


def _emptying(original: Any) -> Any:
    def updated(request: Doc) -> Doc:
        given = original(request)
        return given if "content" in given else {"content": {"text": ""}, **given}

    return updated


def _taking_extensions(original: Any) -> Any:
    def updated(request: Doc) -> Doc:
        return {**original(request), **({"extensions": request["extensions"]} if "extensions" in request else {})}

    return updated


def _inheriting(original: Any) -> Any:
    def decided(turn: Turn, space: Space, request: Doc, candidate: Doc, drafts: Any) -> Any:
        return original(turn, space, {**request, "extensions": candidate["extensions"]}, candidate, drafts)

    return decided


def _flat(content: Doc) -> Doc:
    """Store an object inside an object as its text, as a store of flat properties does."""
    value = content.get("structured")
    if not isinstance(value, dict):
        return content
    flat = {name: json.dumps(member) if isinstance(member, (dict, list)) else member for name, member in value.items()}
    return {**content, "structured": flat}


def _flattening(original: Any) -> Any:
    def added(turn: Turn, space: Space, kind: str, content: Doc, *rest: Any, **more: Any) -> Any:
        return original(turn, space, kind, _flat(content), *rest, **more)

    return added


def _dropping(original: Any) -> Any:
    def received(space: Space, value: Doc) -> Doc:
        made: Doc = original(space, value)
        return {**made, "extensions": {}} if "record_id" in made else made

    return received


def _marking_the_dismissed(original: Any) -> Any:
    def dismiss(turn: Turn, space: Space, request: Doc) -> Any:
        outcome = original(turn, space, request)
        candidate = outcome.space.candidates.get(request["candidate_id"])
        marked = {**candidate, "extensions": {**candidate["extensions"], **request.get("extensions", {})}}
        changed = outcome.space.candidates.change(request["candidate_id"], marked)
        return outcome._replace(space=outcome.space.having(candidates=changed))

    return dismiss


def _marking_the_space(original: Any) -> Any:
    def freeze(turn: Turn, space: Space, request: Doc) -> Any:
        outcome = original(turn, space, request)
        extensions = {**space.facts["extensions"], **request.get("extensions", {})}
        return outcome._replace(space=altered.facts(outcome.space, extensions=extensions))

    return freeze


def _sourceless(candidate: Doc) -> Doc:
    """Rebuild a candidate that was decided on from the columns that its table has for it."""
    if candidate["state"] == "pending":
        return candidate
    return {**candidate, "provenance": {"captured_by": candidate["provenance"]["captured_by"]}}


def _without_sources(space: Space) -> Space:
    kept = space.candidates
    for candidate in list(kept.all()):
        kept = kept.change(candidate["candidate_id"], _sourceless(candidate))
    return space.having(candidates=kept)


def _without_profile_extensions(space: Space) -> Space:
    kept = space.profiles
    for document in list(kept.all()):
        kept = kept.change((document["subject_id"], document["kind"]), {**document, "extensions": {}})
    return space.having(profiles=kept)


FAULTS: tuple[Fault, ...] = (
    Fault(
        "r001_read_drops_extensions",
        RULE,
        "records.get answers without the extensions that nobody knows",
        patched(altered.answer("records.get", _bare("record"))),
    ),
    Fault(
        "r001_profile_without_extensions",
        RULE,
        "a profile document carries no extensions member",
        patched(altered.answer("profile.get", _without_extensions)),
    ),
    Fault(
        "r001_subject_without_its_kind",
        RULE,
        "subjects.get answers without the kind that the subject was given",
        patched(altered.answer("subjects.get", _without_kind)),
        source="ours",
    ),
    Fault(
        "r001_grant_with_internals",
        RULE,
        "a listed grant carries a member of the provider's own bookkeeping",
        patched(altered.answer("grants.list", _with_internals)),
    ),
    Fault(
        "f13_update_rebuilds_the_record",
        RULE,
        "an update rebuilds the record from a short list of known fields",
        patched(Patch(records, "stored", _rebuilding)),
        source="F13",
    ),
    Fault(
        "r001_change_of_kind_empties_content",
        RULE,
        "an update of the kind alone stores the content that it does not carry",
        patched(Patch(records, "updated", _emptying)),
        source="F13",
    ),
    Fault(
        "r001_update_takes_extensions",
        RULE,
        "the extensions of an update replace those of the creation",
        patched(Patch(records, "updated", _taking_extensions)),
        source="ours",
    ),
    Fault(
        "r001_review_hands_on_capture_extensions",
        RULE,
        "the records of a review take the candidate's extensions instead of the review's",
        patched(Patch(reviews, "decided", _inheriting)),
        source="ours",
    ),
    Fault(
        "r001_nested_structure_stored_as_text",
        RULE,
        "an object inside structured content is stored as a text",
        patched(Patch(records, "added", _flattening)),
        source="F18",
    ),
    Fault(
        "r001_import_drops_extensions",
        RULE,
        "records that come by an import lose their extensions",
        patched(Patch(activation, "received", _dropping)),
        source="ours",
    ),
    Fault(
        "r001_dismissal_marks_the_candidate",
        RULE,
        "a dismissal puts its extensions on the candidate",
        patched(altered.step("candidates.dismiss", _marking_the_dismissed)),
        source="ours",
    ),
    Fault(
        "r001_freeze_marks_the_space",
        RULE,
        "freezing a space puts the extensions of its request on it",
        patched(altered.step("spaces.freeze", _marking_the_space)),
        source="ours",
    ),
    Fault(
        "r001_restart_loses_sources_of_the_decided",
        RULE,
        "a restart loses the source context of candidates that were decided on",
        patched(altered.restored(_without_sources)),
        source="ours",
    ),
    Fault(
        "r001_restart_loses_profile_extensions",
        RULE,
        "a restart loses the extensions of profiles",
        patched(altered.restored(_without_profile_extensions)),
        source="ours",
    ),
)
