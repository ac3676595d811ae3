"""Faults of MEM-R010: enforcement that forgets a dimension or an operation, widens a name, or demands too much."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from conformance.oracle import authority, grants, reviews, selection
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire.bundle import Need
from conformance.wire.vocabulary import Code
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, Provider, always, patched
from tests.seeded.scoped import during

RULE = "MEM-R010"


def _admin_implies(original: Any) -> Any:
    return lambda grant, capability: original(grant, capability) or "admin" in grant["capabilities"]


def _any_share(_original: Any) -> Any:
    return lambda grant, _access: grant["shared_access"] != "none"


def _demands(capability: str) -> Any:
    """Demand a further capability of whoever writes."""

    def wrap(original: Any) -> Any:
        def require(turn: Turn, scope: Doc, needs: Sequence[Need]) -> None:
            original(turn, scope, needs)
            if not any(capability in grant["capabilities"] for grant in turn.grants):
                raise authority.refuse_name(turn)

        return require

    return wrap


def _like(pattern: str, name: str) -> bool:
    """Match as an SQL LIKE for all that begins with the pattern would."""
    parts = {"%": ".*", "_": "."}
    return re.match("".join(parts.get(one, re.escape(one)) for one in pattern), name, re.DOTALL) is not None


def _by_prefix(member: str) -> Any:
    return lambda _original: lambda grant, name: member not in grant or any(_like(one, name) for one in grant[member])


def _named_by_prefix(original: Any) -> Any:
    def is_named(wanted: Doc, scope: Doc) -> bool:
        loose = {**wanted, "subject_id": scope["subject_id"]} if _like(wanted["subject_id"], scope["subject_id"]) else wanted
        if "context_id" in scope and any(_like(one, scope["context_id"]) for one in wanted.get("context_ids", ())):
            loose = {**loose, "context_ids": [scope["context_id"]]}
        found: bool = original(loose, scope)
        return found

    return is_named


def _cached_by_caller() -> Provider:
    """Keep a caller's grants by its name alone, and use them where it has none."""
    cache: dict[str, list[Doc]] = {}

    def wrap(original: Any) -> Any:
        def effective(turn: Turn, space: Space) -> list[Doc]:
            found: list[Doc] = original(turn, space)
            if found:
                cache[turn.caller] = found
            return found or (cache.get(turn.caller, []) if space.facts else [])

        return effective

    return patched(Patch(authority, "effective", wrap))()


def _first_grant(original: Any) -> Any:
    return lambda turn, space: original(turn, space)[:1]


def _crossed(_original: Any) -> Any:
    """Take each dimension from whichever grant has it."""

    def holds(turn: Turn, need: Need, scope: Doc) -> bool:
        return (
            any(authority.lists_capability(grant, need.capability) for grant in turn.grants)
            and any(authority.covers_subject(grant, scope["subject_id"]) for grant in turn.grants)
            and any(authority.covers_placement(grant, scope, need.access) for grant in turn.grants)
        )

    return holds


def _one_grant_for_both(original: Any) -> Any:
    """Demand that one grant covers every need of an operation."""

    def require_object(turn: Turn, found: Doc | None, scope: str, needs: Sequence[Need], reading: Need) -> Doc:
        document: Doc = original(turn, found, scope, needs, reading)
        if not any(all(authority.covers(grant, need, document[scope]) for need in needs) for grant in turn.grants):
            raise authority.refuse_object(turn, visible=True)
        return document

    return require_object


def _listed_only(_original: Any) -> Any:
    return lambda grant, need: authority.lists_capability(grant, need.capability)


def _first_need(_original: Any) -> Any:
    def require_space(turn: Turn) -> None:
        if not authority.holds_space(turn, turn.op.needs[0]):
            raise authority.refuse_name(turn)

    return require_space


def _share_for_subjects(original: Any) -> Any:
    """Demand shared access of whoever reads or writes what belongs to a subject as a whole."""
    return lambda grant, need, subject_id: (
        original(grant, need, subject_id) and (need.on != "subject" or grant["shared_access"] != "none")
    )


def _writes_demand_reading(original: Any) -> Any:
    """Find an object only for whoever may read it."""

    def require_object(turn: Turn, found: Doc | None, scope: str, needs: Sequence[Need], reading: Need) -> Doc:
        if found is not None and turn.op.stem == "records.update" and not authority.holds(turn, reading, found[scope]):
            raise Refusal(Code.NOT_FOUND)
        document: Doc = original(turn, found, scope, needs, reading)
        return document

    return require_object


def _authors_read(original: Any) -> Any:
    def get(turn: Turn, space: Space, request: Doc) -> Outcome:
        record = space.records.get(request["record_id"])
        if record is not None and record["provenance"]["created_by"] == turn.caller:
            return Outcome(space, {"record": record})
        outcome: Outcome = original(turn, space, request)
        return outcome

    return get


def _any_mode(original: Any) -> Any:
    """Let a selection that names no contexts of its own pass for whoever holds the capability somewhere."""

    def authorise(turn: Turn, wanted: Doc, needs: Sequence[Need]) -> None:
        original(turn, {**wanted, "mode": "all_authorized"} if wanted["mode"] == "shared" else wanted, needs)

    return authorise


def _anyones(original: Any) -> Callable[[Turn, Doc | None], Doc]:
    """Let every grantee of the space revoke any grant."""

    def revocable(turn: Turn, found: Doc | None) -> Doc:
        if found is not None and turn.grants:
            return found
        right: Doc = original(turn, found)
        return right

    return revocable


def _grantees(original: Any) -> Callable[[Turn, Doc | None], Doc]:
    """Let the grantee of a grant revoke it."""

    def revocable(turn: Turn, found: Doc | None) -> Doc:
        if found is not None and found["grantee_id"] == turn.caller:
            return found
        right: Doc = original(turn, found)
        return right

    return revocable


def _review_by_reading(original: Any) -> Any:
    """Take shared access to read for enough, of ``review`` alone."""

    def needs(turn: Turn, decision: Doc) -> Sequence[Need]:
        return [replace(need, access="read") if need.capability == "review" else need for need in original(turn, decision)]

    return needs


def _discard_by_reading(original: Any) -> Any:
    """Take shared access to read for enough where a candidate is only discarded."""
    reading = _review_by_reading(original)
    return lambda turn, decision: (reading if decision["action"] == "discard" else original)(turn, decision)


def _own_effective(original: Any) -> Any:
    """Leave expired grants out of a caller's own."""
    return lambda turn, space: [grant for grant in original(turn, space) if not authority.is_expired(grant, turn)]


def _own_and_issued(_original: Any) -> Any:
    """Take what a caller issued for its own."""
    return lambda turn, space: [grant for grant in space.grants.all() if turn.caller in (grant["grantee_id"], grant["issuer_id"])]


def _first_two(original: Any) -> Any:
    return lambda wanted: original(wanted)[:2]


def _among_the_first(original: Any) -> Any:
    return lambda grant, subject_id: (
        original({**grant, "subject_ids": grant["subject_ids"][:50]}, subject_id)
        if ("subject_ids" in grant)
        else original(grant, subject_id)
    )


def _by_one_grant(turn: Turn, _space: Space, request: Doc) -> None:
    """Refuse to recall over contexts that no grant covers alone."""
    named = set(request["selection"].get("context_ids", ()))
    if named and not any(named <= set(grant.get("context_ids", named)) for grant in turn.grants):
        raise Refusal(Code.NOT_AUTHORIZED)


FAULTS = (
    Fault("r010_ignores_context_ids", RULE, "a grant reaches every context, whichever it lists",
          patched(Patch(authority, "covers_context", always(True)))),
    Fault("r010_looks_at_two_names", RULE, "of the placements that a selection names the first two are authorised",
          patched(Patch(selection, "named", _first_two)), source="ours"),
    Fault("r010_ignores_subject_ids_of_profiles", RULE, "a grant on one subject reads the profiles of all",
          patched(during("profile.get", Patch(authority, "covers_subject", always(True))))),
    Fault("r010_ignores_subject_ids_in_recall", RULE, "a grant on one subject recalls the records of all",
          patched(during("recall", Patch(authority, "covers_subject", always(True))))),
    Fault("r010_shared_read_writes", RULE, "shared access to read is enough to write",
          patched(Patch(authority, "covers_shared", _any_share))),
    Fault("r010_admin_implies_everything", RULE, "a grant of admin stands for every capability",
          patched(Patch(authority, "lists_capability", _admin_implies))),
    Fault("r010_create_demands_reading", RULE, "creating a record demands records_read too",
          patched(during("records.create", Patch(authority, "require", _demands("records_read"))))),
    Fault("r010_names_by_prefix", RULE, "a grant's names are run as prefixes with wildcards",
          patched(Patch(authority, "covers_context", _by_prefix("context_ids")),
                  Patch(authority, "covers_subject", _by_prefix("subject_ids"))), source="F05"),
    Fault("r010_selection_by_prefix", RULE, "a selection's names are run as prefixes with wildcards",
          patched(Patch(selection, "is_named", _named_by_prefix)), source="F05"),
    Fault("r010_grants_cached_by_caller", RULE, "what a caller may do in one space it may do in others",
          _cached_by_caller, source="F12"),
    Fault("r010_first_grant_only", RULE, "only the first grant of a caller counts",
          patched(Patch(authority, "effective", _first_grant)), source="ours"),
    Fault("r010_mixes_grants", RULE, "capability, subject and placement may come from different grants",
          patched(Patch(authority, "holds", _crossed)), source="ours"),
    Fault("r010_one_grant_for_both", RULE, "two capabilities must come from one grant",
          patched(Patch(authority, "require_object", _one_grant_for_both)), source="ours"),
    Fault("r010_space_level_by_a_narrow_grant", RULE, "a grant on one subject or context covers the whole space",
          patched(Patch(authority, "covers_space", _listed_only)), source="ours"),
    Fault("r010_activation_without_admin", RULE, "activation does not look for its second capability",
          patched(during("imports.activate", Patch(authority, "require_space", _first_need))), source="ours"),
    Fault("r010_review_alone_promotes", RULE, "a review does not look for its second capability",
          patched(Patch(reviews, "needs", lambda _original: lambda turn, _decision: turn.op.needs[:1])), source="ours"),
    Fault("r010_subjects_demand_shared_access", RULE, "what belongs to a subject as a whole demands shared access",
          patched(Patch(authority, "covers_whole_subject", _share_for_subjects)), source="ours"),
    Fault("r010_update_demands_reading", RULE, "only who may read a record may update it",
          patched(Patch(authority, "require_object", _writes_demand_reading)), source="ours"),
    Fault("r010_authors_read_on", RULE, "a record can be read by whoever wrote it",
          patched(altered.step("records.get", _authors_read)), source="ours"),
    Fault("r010_shared_selection_unchecked", RULE, "a selection of the shared placement demands no shared access",
          patched(Patch(selection, "authorise", _any_mode)), source="ours"),
    Fault("r010_any_grantee_revokes", RULE, "any grantee of the space can revoke any grant",
          patched(Patch(grants, "revocable", _anyones)), source="ours"),
    Fault("r010_grantee_revokes", RULE, "whoever holds a grant can revoke it",
          patched(Patch(grants, "revocable", _grantees)), source="ours"),
    Fault("r010_review_by_shared_read", RULE, "a review in the shared placement takes a review that only reads there",
          patched(Patch(reviews, "needs", _review_by_reading)), source="ours"),
    Fault("r010_discard_by_shared_read", RULE, "a discard in the shared placement takes a review that only reads there",
          patched(Patch(reviews, "needs", _discard_by_reading)), source="ours"),
    Fault("r010_own_hides_expired", RULE, "a caller's expired grants are not listed among its own",
          patched(Patch(grants, "own", _own_effective)), source="ours"),
    Fault("r010_own_shows_issued", RULE, "what a caller issued to others is listed among its own",
          patched(Patch(grants, "own", _own_and_issued)), source="ours"),
    Fault("r010_first_grants_only", RULE, "only the first fifty grants of a caller count",
          patched(altered.cut(authority, "effective")), source="ours"),
    Fault("r010_first_names_only", RULE, "only the first fifty subjects of a grant count",
          patched(Patch(authority, "covers_subject", _among_the_first)), source="ours"),
    Fault("r010_contexts_by_one_grant", RULE, "a recall over contexts is refused where no single grant covers them all",
          patched(altered.step("recall", altered.first(_by_one_grant))), source="ours"),
)  # fmt: skip
"""The faults that this rule must catch."""
