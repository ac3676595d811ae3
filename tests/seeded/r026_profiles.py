"""Faults that MEM-R026 (profiles and reflections) must catch: profiles."""

from __future__ import annotations

from typing import Any

from conformance.oracle import authority, contents, profiles, reflections, revisions, subjects
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire import canonical
from conformance.wire.vocabulary import Code
from tests.seeded import altered, scoped
from tests.seeded.fault import Fault, Patch, always, patched

RULE = "MEM-R026"


def _missing_is_an_error(original: Any) -> Any:
    def get(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        if outcome.members["missing_kinds"]:
            raise Refusal(Code.NOT_FOUND)
        return outcome

    return get


def _missing_as_empty(_turn: Turn, space: Space, members: Doc) -> Doc:
    """Answer a document without content for a kind that was never written."""
    made = [
        {
            "schema_version": 1, "space_id": space.space_id, "subject_id": "u1", "kind": kind, "content": {"text": ""},
            "content_digest": canonical.digest({"text": ""}), "revision": 1, "updated_by": "nobody",
            "created_at": "2000-01-01T00:00:00Z", "updated_at": "2000-01-01T00:00:00Z", "extensions": {},
        }
        for kind in members["missing_kinds"]
    ]  # fmt: skip
    return {"documents": [*members["documents"], *made], "missing_kinds": []}


def _unsaid(_turn: Turn, _space: Space, members: Doc) -> Doc:
    return {**members, "missing_kinds": []}


def _folded(_original: Any) -> Any:
    return lambda subject_id, kind: (subject_id, kind.casefold())


def _joined(_original: Any) -> Any:
    """Find a profile by its kind alone."""
    return lambda _subject_id, kind: ("", kind)


def _any_subject(original: Any) -> Any:
    """Read the profiles of every subject."""

    def get(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        wanted = request.get("kinds", ())
        others = [one for one in space.profiles.all() if one["kind"] in wanted and one not in outcome.members["documents"]]
        found = [*outcome.members["documents"], *others]
        kinds = {one["kind"] for one in found}
        missing = [kind for kind in outcome.members["missing_kinds"] if kind not in kinds]
        return outcome._replace(members={"documents": found, "missing_kinds": missing})

    return get


def _all_kinds(original: Any) -> Any:
    """Give every document of the subject, whichever kinds were asked for."""

    def get(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        return outcome._replace(members={**outcome.members, "documents": space.profiles.of(request["subject_id"])})

    return get


def _merged(original: Any) -> Any:
    """Keep what an update of a profile does not mention."""

    def changed(turn: Turn, space: Space, request: Doc, found: Doc) -> Outcome:
        content = {**found["content"], **request["content"]}
        outcome: Outcome = original(turn, space, {**request, "content": content}, found)
        return outcome

    return changed


def _granting(original: Any) -> Any:
    """Take a profile that names a grantee and capabilities for a grant."""

    def says(document: Doc, caller: str, capability: str) -> bool:
        said = document["content"].get("structured")
        named = isinstance(said, dict) and said.get("grantee_id") == caller
        return named and capability in said.get("capabilities", ())

    def holds(turn: Turn, need: Any, scope: Doc) -> bool:
        held = [document for space in turn.state.spaces.values() for document in space.profiles.of(scope["subject_id"])]
        return any(says(one, turn.caller, need.capability) for one in held) or bool(original(turn, need, scope))

    return holds


def _first_writer(original: Any) -> Any:
    """Say the first writer of a document for ever."""

    def changed(turn: Turn, space: Space, request: Doc, found: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request, found)
        key = profiles.key_of(found["subject_id"], found["kind"])
        document = {**(outcome.space.profiles.get(key) or {}), "updated_by": found["updated_by"]}
        return outcome._replace(space=outcome.space.having(profiles=outcome.space.profiles.change(key, document)))

    return changed


def _extensions_replaced(original: Any) -> Any:
    def changed(turn: Turn, space: Space, request: Doc, found: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request, {**found, "extensions": request.get("extensions", {})})
        return outcome

    return changed


def _measured_when_new(original: Any) -> Any:
    """Measure the content of a new document alone."""

    def update(turn: Turn, space: Space, request: Doc) -> Outcome:
        written = profiles.key_of(request["subject_id"], request["kind"]) in space.profiles
        measure: Any = always(None) if written else lambda refuse: refuse
        with Patch(contents, "refuse_oversized", measure).applied():
            outcome: Outcome = original(turn, space, request)
        return outcome

    return update


def _digest_of_text(original: Any) -> Any:
    def written(turn: Turn, request: Doc) -> Doc:
        return {**original(turn, request), "content_digest": canonical.digest(request["content"]["text"])}

    return written


def _ahead_of_another(original: Any) -> Any:
    """Take an expected digest for a revision: one that is greater than the present one is ahead."""

    def refuse_other_state(request: Doc, digest: str) -> None:
        if request.get("expected_state_digest", digest) > digest and "filter" in request:
            raise Refusal(Code.REVISION_AHEAD, expected_revision=None, actual_revision=None)
        original(request, digest)

    return refuse_other_state


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md") -> Fault:
    return Fault(f"r026_{name}", RULE, sentence, patched(*patches), source)


def _ours(name: str, sentence: str, *patches: Patch) -> Fault:
    return _fault(name, sentence, *patches, source="ours")


FAULTS: tuple[Fault, ...] = (
    _fault("missing_is_an_error", "a profile kind that was never written is NOT_FOUND",
           altered.step("profile.get", _missing_is_an_error)),
    _ours("expected_digest_ahead", "an expected digest that is greater than the present one is refused as ahead",
          Patch(reflections, "refuse_other_state", _ahead_of_another)),
    _ours("missing_as_empty", "a kind that was never written is an empty document",
          altered.answer("profile.get", _missing_as_empty)),
    _ours("missing_unsaid", "missing kinds are not listed", altered.answer("profile.get", _unsaid)),
    _ours("kinds_folded", "profile kinds are compared without case", Patch(profiles, "key_of", _folded)),
    _ours("profile_by_kind", "a profile is found by its kind alone", altered.step("profile.get", _any_subject)),
    _ours("kinds_ignored", "every document is given, whichever kinds were asked for",
          altered.step("profile.get", _all_kinds)),
    _ours("profile_merged", "an update keeps what it does not mention", Patch(profiles, "_changed", _merged)),
    _ours("profile_grants", "what a profile says authorises", Patch(authority, "holds", _granting)),
    _ours("profile_first_writer", "a document names its first writer for ever", Patch(profiles, "_changed", _first_writer)),
    _ours("profile_extensions_replaced", "an update replaces the extensions", Patch(profiles, "_changed", _extensions_replaced)),
    _ours("profile_digest_of_text", "the content digest is of the text alone", Patch(profiles, "written", _digest_of_text)),
    _ours("profile_measured_when_new", "the content of a document that exists is not measured at an update",
          altered.step("profile.update", _measured_when_new)),
    _ours("profile_for_nobody", "a profile is made for a subject that does not exist",
          scoped.during("profile.update", Patch(subjects, "require_existing", always(None)))),
    _ours("profile_unchecked", "a profile update takes any revision",
          scoped.during("profile.update", Patch(revisions, "check", always(None)))),
)  # fmt: skip
