"""Faults that MEM-R020 (placement change) must catch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from conformance import dispatch
from conformance.oracle import authority, records, steps
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Step, Turn
from conformance.wire.bundle import Need
from conformance.wire.vocabulary import Code
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, Patched, Provider, always, patched

RULE = "MEM-R020"


def _step(op: str, wrap: Callable[[Step], Step]) -> Patch:
    return Patch(steps.STEPS, op, wrap)


def _taking(*members: str) -> Patch:
    """Let updates and promotions carry members that their schemas do not know."""

    def wrap(original: Callable[..., None]) -> Any:
        def refuse(bundle: Any, operation: Any, payload: Any) -> None:
            if operation.method in ("records_update", "records_promote") and isinstance(payload, dict):
                known = bundle.schema(bundle.request_ref(operation.name))["properties"]
                payload = {name: value for name, value in payload.items() if name in known or name not in members}
            original(bundle, operation, payload)

        return refuse

    return Patch(dispatch, "refuse_malformed", wrap)


def _with_scope(original: Callable[[Doc], Doc]) -> Any:
    return lambda request: {**original(request), **({"scope": request["scope"]} if "scope" in request else {})}


def _stored(change: Callable[[Turn, Doc, Doc], Doc]) -> Patch:
    """Change each later version of a record: ``change`` takes the turn, the record before and the members set."""

    def wrap(original: Callable[..., Outcome]) -> Any:
        def stored(turn: Turn, space: Space, record: Doc, **members: Any) -> Outcome:
            return original(turn, space, record, **change(turn, record, members))

        return stored

    return Patch(records, "stored", wrap)


def _promoted(members: Callable[[Turn, Doc], Doc]) -> Patch:
    """Set further members at each promotion."""
    return _stored(lambda turn, record, given: {**given, **members(turn, record)} if "scope" in given else given)


def _updated(members: Callable[[Turn, Doc], Doc]) -> Patch:
    """Set further members at each update of content or kind."""

    def change(turn: Turn, record: Doc, given: Doc) -> Doc:
        is_update = "scope" not in given and "tombstone" not in given
        return {**given, **members(turn, record)} if is_update else given

    return _stored(change)


def _author_again(turn: Turn, record: Doc) -> Doc:
    return {"provenance": {"source": records.AUTHOR, "created_by": turn.caller}}


def _mover(turn: Turn, record: Doc) -> Doc:
    return {"provenance": {**record["provenance"], "created_by": turn.caller}}


def _moved_source(_turn: Turn, record: Doc) -> Doc:
    provenance = record["provenance"]
    known = "source_context_id" in provenance and "context_id" in record["scope"]
    return {"provenance": {**provenance, "source_context_id": record["scope"]["context_id"]}} if known else {}


def _without_candidate(_turn: Turn, record: Doc) -> Doc:
    return {"provenance": {name: value for name, value in record["provenance"].items() if name != "candidate_id"}}


def _promoting_with(*patches: Patch) -> Patch:
    """Replace functions for the time of a promotion alone."""

    def wrap(original: Step) -> Step:
        def promote(turn: Turn, space: Space, request: Doc) -> Outcome:
            with ExitStack() as stack:
                for patch in patches:
                    stack.enter_context(patch.applied())
                return original(turn, space, request)

        return promote

    return _step("memory.records.promote", wrap)


def _any_record(_original: Any) -> Any:
    def found(_turn: Turn, space: Space, request: Doc, _needs: Sequence[Need]) -> Doc:
        record = space.records.get(request["record_id"])
        if record is None:
            raise Refusal(Code.NOT_FOUND)
        return record

    return found


def _reading(needs: Sequence[Need]) -> list[Need]:
    return [replace(need, access="read") for need in needs]


def _found_by_reading(original: Callable[..., Doc]) -> Any:
    return lambda turn, space, request, needs: original(turn, space, request, _reading(needs))


def _required_for_reading(original: Callable[..., None]) -> Any:
    return lambda turn, scope, needs: original(turn, scope, _reading(needs))


def _required_for_the_subject(original: Callable[..., None]) -> Any:
    def require(turn: Turn, scope: Doc, needs: Sequence[Need]) -> None:
        with Patch(authority, "covers_context", always(True)).applied():
            original(turn, scope, needs)

    return require


def _by_one_grant(original: Step) -> Step:
    def promote(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome, record = original(turn, space, request), space.records.get(request["record_id"])
        scopes = [request["to_scope"], *([] if record is None else [record["scope"]])]
        if not any(all(authority.covers(grant, turn.need(), scope) for scope in scopes) for grant in turn.grants):
            raise Refusal(Code.NOT_AUTHORIZED)
        return outcome

    return promote


def _stale_index() -> Provider:
    """Make a provider whose lists and recall know the first placement of a record, while ``get`` knows the present one."""
    first: dict[str, Doc] = {}

    def remembering(original: Step) -> Step:
        def promote(turn: Turn, space: Space, request: Doc) -> Outcome:
            outcome, record = original(turn, space, request), space.records.get(request["record_id"])
            if record is not None:
                first.setdefault(record["record_id"], record["scope"])
            return outcome

        return promote

    def indexed(original: Callable[[Doc], Doc]) -> Any:
        return lambda record: first.get(record["record_id"], original(record))

    return Patched([_step("memory.records.promote", remembering), Patch(records, "placement", indexed)])


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md") -> Fault:
    return Fault(f"r020_{name}", RULE, sentence, patched(*patches), source)


def _first_contents() -> Provider:
    """Make a provider in which an update of the kind alone brings the first content back."""
    first: dict[str, Doc] = {}

    def keeping(original: Any) -> Any:
        def create(turn: Turn, space: Space, request: Doc) -> Outcome:
            outcome: Outcome = original(turn, space, request)
            first[outcome.affected[0]["id"]] = request["content"]
            return outcome

        return create

    def reviving(original: Any) -> Any:
        def update(turn: Turn, space: Space, request: Doc) -> Outcome:
            old = first.get(request["record_id"])
            filled = request if old is None or "content" in request else {**request, "content": old}
            outcome: Outcome = original(turn, space, filled)
            return outcome

        return update

    return Patched([altered.step("records.create", keeping), altered.step("records.update", reviving)])


FAULTS: tuple[Fault, ...] = (
    _fault("update_accepts_scope", "an update takes a scope", _taking("scope"), Patch(records, "updated", _with_scope)),
    _fault(
        "update_ignores_scope", "an update with a scope is taken, the scope ignored",
        _taking("scope", "to_scope"), source="ours",
    ),
    _fault("promote_resets_provenance", "a promotion makes the record the mover's", _promoted(_author_again)),
    _fault("promote_names_the_mover", "a promotion names the mover as creator", _promoted(_mover), source="ours"),
    _fault(
        "promote_loses_candidate", "a promoted record no longer names its candidate",
        _promoted(_without_candidate), source="ours",
    ),
    _fault("source_follows_placement", "the source context becomes the place left", _promoted(_moved_source), source="ours"),
    _fault("destination_only", "promote checks the destination only", _promoting_with(Patch(records, "found", _any_record))),
    _fault("source_only", "promote checks the source only", _promoting_with(Patch(authority, "require", always(None)))),
    _fault(
        "reads_suffice_into_shared", "read access promotes into the shared placement",
        _promoting_with(Patch(authority, "require", _required_for_reading)), source="ours",
    ),
    _fault(
        "reads_suffice_out_of_shared", "read access promotes out of it",
        _promoting_with(Patch(records, "found", _found_by_reading)), source="ours",
    ),
    _fault(
        "destination_by_subject", "a grant on the subject promotes into any context",
        _promoting_with(Patch(authority, "require", _required_for_the_subject)), source="ours",
    ),
    _fault(
        "both_ends_by_one_grant", "one grant must cover both ends",
        _step("memory.records.promote", _by_one_grant), source="ours",
    ),
    _fault("promote_changes_kind", "a promotion makes the record a memory", _promoted(lambda _turn, _record: {"kind": "memory"})),
    _fault(
        "promote_drops_extensions", "a promotion drops extensions",
        _promoted(lambda _turn, _record: {"extensions": {}}), source="ours",
    ),
    _fault(
        "promote_is_a_new_record", "a promotion is a new creation",
        _promoted(lambda turn, _record: {"created_at": turn.now}), source="ours",
    ),
    _fault(
        "promote_to_another_subject", "a promotion may leave its subject",
        Patch(records, "refuse_other_subject", always(None)), source="ours",
    ),
    _fault(
        "promote_in_place", "a promotion to the same placement commits",
        Patch(records, "refuse_same_placement", always(None)), source="ours",
    ),
    Fault(
        "r020_index_at_the_old_place", RULE, "lists and recall find a promoted record at its first placement",
        _stale_index, "ours",
    ),
    _fault("update_names_the_writer", "an update names its writer as creator", _updated(_mover), source="ours"),
    _fault("update_rebuilds_record", "an update makes the record its writer's", _updated(_author_again), source="F13"),
    _fault(
        "update_takes_extensions", "an update clears the extensions",
        _updated(lambda _turn, _record: {"extensions": {}}), source="ours",
    ),
    Fault("r020_kind_brings_the_first_content_back", RULE, "an update of the kind alone brings the first content back",
          _first_contents, "ours"),
)  # fmt: skip
