"""Faults that MEM-R027 (transfer) must catch: what an activation does wrong to the space that receives.

What it does wrong to the three things that survive is in ``r027_survivors``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from conformance.oracle import activation, authority, cursors, grants, imports, jobs, receipts, reflections
from conformance.oracle.choices import Choices
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Ledger, Space
from conformance.oracle.turn import Outcome, Settled, Turn
from conformance.wire.vocabulary import Code
from tests.seeded import altered, scoped
from tests.seeded.fault import Fault, Patch, Patched, Provider, always, patched
from tests.seeded.refused import leaving

RULE = "MEM-R027"
LASTING = Choices(cursor_dies_at_any_change=False)


def _activated(change: Callable[[Turn, Space, Space], Space]) -> Patch:
    """Change what an activation makes of a space; ``change`` gets the turn, the space before and the right one after."""

    def wrap(original: Any) -> Any:
        def activated(turn: Turn, space: Space, items: Iterable[Doc]) -> Space:
            return change(turn, space, original(turn, space, items))

        return activated

    return Patch(activation, "activated", wrap)


def _merged(name: str, key: str) -> Callable[[Turn, Space, Space], Space]:
    """Keep what the space had of one table beside what was brought."""

    def change(turn: Turn, before: Space, after: Space) -> Space:
        table = getattr(after, name)
        for row in getattr(before, name).rows.values():
            if row.doc[key] not in table:
                table = table.add(row.doc[key], row.group, turn.next_number(), row.doc)
        return after.having(**{name: table})

    return change


def _profiles_kept(_turn: Turn, before: Space, after: Space) -> Space:
    table = after.profiles
    for key, row in before.profiles.rows.items():
        if key not in table:
            table = table.add(key, row.group, row.number, row.doc)
    return after.having(profiles=table)


def _fences_kept(_turn: Turn, before: Space, after: Space) -> Space:
    both = dict.fromkeys([*after.facts["fenced_context_ids"], *before.facts["fenced_context_ids"]])
    return altered.facts(after, fenced_context_ids=list(both))


def _fences_not_brought(_turn: Turn, before: Space, after: Space) -> Space:
    return altered.facts(after, fenced_context_ids=before.facts["fenced_context_ids"])


def _reflections_kept(turn: Turn, before: Space, after: Space) -> Space:
    kept = _merged("reflections", "reflection_id")(turn, before, after)
    pins = after.pins
    for name, pin in before.pins.items():
        pins = pins if name in pins else pins.set(name, pin)
    return kept.having(pins=pins)


def _unfrozen(_turn: Turn, _before: Space, after: Space) -> Space:
    return altered.facts(after, state="active")


def _grants_dropped(_turn: Turn, before: Space, after: Space) -> Space:
    """Keep the oldest grant alone."""
    first = before.grants.ordered()[0]
    table = type(before.grants)().add(first.doc["grant_id"], first.group, first.number, first.doc)
    return after.having(grants=table)


def _own_receipts_replaced(original: Any) -> Any:
    """Replace receipts and keys by those that were brought."""

    def added(turn: Turn, ledger: Ledger, brought: Iterable[Doc]) -> Ledger:
        return original(turn, Ledger(), brought)  # type: ignore[no-any-return]

    return added


def _brought_wins(_original: Any) -> Any:
    """Let a brought receipt take the key and the id of one of the space's own."""

    def added(turn: Turn, ledger: Ledger, brought: Iterable[Doc]) -> Ledger:
        for receipt in brought:
            number = turn.next_number()
            key = receipts.key_of(receipt["principal_id"], receipt["op"], receipt["idempotency_key"])
            ids, keys = ledger.ids.set(receipt["receipt_id"], number), ledger.keys.set(key, number)
            ledger = Ledger(ledger.docs.set(number, receipt), ids, keys)
        return ledger

    return added


def _keys_alone(original: Any) -> Any:
    """Add no brought receipts at all."""
    return lambda _turn, ledger, _brought: ledger


def _without_keys(_original: Any) -> Any:
    """Add brought receipts without their keys."""

    def added(turn: Turn, ledger: Ledger, brought: Iterable[Doc]) -> Ledger:
        for number, receipt in enumerate(brought):
            ledger = ledger.add(turn.next_number(), ("", "", f"{turn.now}/{number}"), receipt)
        return ledger

    return added


def _redigested(original: Any) -> Any:
    """Make a brought receipt one of a request that names the receiving space."""

    def received(space: Space, value: Doc) -> Doc:
        found: Doc = original(space, value)
        return {**found, "payload_digest": "0" * 64} if "payload_digest" in found else found

    return received


def _restamped(original: Any) -> Any:
    """Count a brought record as made now."""

    def received(space: Space, value: Doc) -> Doc:
        found: Doc = original(space, value)
        return {**found, "revision": 1} if "record_id" in found and "tombstone" not in found else found

    return received


def _space_kept(_original: Any) -> Any:
    """Leave items in the space that they come from."""
    return lambda _space, value: value


def _receipts_kept(original: Any) -> Any:
    """Leave receipts in the space that they come from."""
    return lambda space, value: value if "receipt_id" in value else original(space, value)


def _unless_failed(original: Any) -> Any:
    return lambda held: None if held["state"] == imports.FAILED else original(held)


def _ignoring(name: str) -> Patch:
    return Patch(imports, name, always(None))


def _over_again(*states: str) -> Patch:
    """Activate imports in other states than ``staged`` too."""

    def wrap(original: Callable[[Doc], None]) -> Any:
        return lambda held: None if held["state"] in states else original(held)

    return Patch(imports, "refuse_unstaged", wrap)


def _keeping(original: Any) -> Any:
    """Keep what was staged of an import that is over, and activate it if asked to."""

    def ended(held: Doc, state: str) -> Doc:
        over: Doc = original(held, state)
        return {**over, "state": imports.STAGED} if state == imports.DISCARDED else over

    return ended


def _half_done(turn: Turn, space: Space, request: Doc, _refusal: Refusal) -> Space:
    """Bring in subjects and records although the activation is refused."""
    held = space.imports.get(request.get("import_id", ""))
    if turn.op.name != "memory.imports.activate" or held is None or held["state"] != imports.STAGED:
        return space
    return _brought(turn, space, held)


def _brought(turn: Turn, space: Space, held: Doc) -> Space:
    items = [item for chunk in held["chunks"] for item in chunk["items"]]
    after = activation.activated(turn, space, items)
    return space.having(subjects=after.subjects, records=after.records)


def _half_failed(original: Any) -> Any:
    """Leave subjects and records behind where a pending activation fails."""

    def settle(turn: Turn, space: Space, job: Doc) -> Settled:
        settled: Settled = original(turn, space, job)
        if settled.error is None:
            return settled
        return settled._replace(space=_brought(turn, space, imports.found(space, job["import_id"])))

    return settle


def _unchecked_when_settled(original: Any) -> Any:
    """Do not look again when a pending activation settles."""

    def settle(turn: Turn, space: Space, job: Doc) -> Settled:
        with Patch(imports, "refuse_activation", always(None)).applied():
            settled: Settled = original(turn, space, job)
        return settled

    return settle


def _used_up(original: Any) -> Any:
    """Use an import up at an activation that fails."""

    def settle(turn: Turn, space: Space, job: Doc) -> Settled:
        settled: Settled = original(turn, space, job)
        if settled.error is None:
            return settled
        used = imports.ended(imports.found(space, job["import_id"]), imports.FAILED)
        return settled._replace(space=imports.put(turn, space, job["import_id"], used))

    return settle


def _grants_along() -> Provider:
    """Make a provider that keeps the grants of a space with its exports and brings them in with an activation."""
    sent: dict[str, list[Doc]] = {}

    def sending(original: Any) -> Any:
        def create(turn: Turn, space: Space, request: Doc) -> Outcome:
            outcome: Outcome = original(turn, space, request)
            sent[outcome.affected[0]["id"]] = space.grants.all()
            return outcome

        return create

    def bringing(original: Any) -> Any:
        def settle(turn: Turn, space: Space, job: Doc) -> Settled:
            export_id = imports.found(space, job["import_id"])["bundle"].get("export_id", "")
            settled: Settled = original(turn, space, job)
            after = settled.space
            for grant in sent.get(export_id, ()) if settled.error is None else ():
                if grant["grant_id"] not in after.grants:
                    after = grants.issued(after, {**grant, "space_id": space.space_id}, turn.next_number(), ())
            return settled._replace(space=after)

        return settle

    return Patched([altered.step("exports.create", sending), Patch(jobs.SETTLERS, "memory.imports.activate", bringing)])


def _trusting(original: Any) -> Any:
    """Let who could read in the exporting space read in the receiving one."""

    def effective(turn: Turn, space: Space) -> list[Doc]:
        found: list[Doc] = original(turn, space)
        if found or not space.facts or space.facts["authority_generation"] == 1:
            return found
        elsewhere = [one for other in turn.state.spaces.values() for one in other.grants.of(turn.caller)]
        return [one for one in elsewhere if authority.is_effective(one, turn)]

    return effective


def _everywhere(_original: Any) -> Any:
    """Take a brought generator for one who covered all."""

    def pin(space: Space, reflection: Doc) -> Doc:
        basis = [space.records.get(entry["record_id"]) for entry in reflection["basis"]["records"]]
        return reflections.pin({"contexts": None, "shared": True}, [record for record in basis if record is not None])

    return pin


def _fresh(original: Any) -> Any:
    """Bring reflections as stale for ever: their records are the receiving space's now."""
    return lambda reflection: {**original(reflection), "basis": {**reflection["basis"], "records": []}}


def _unmarked_grants(original: Any) -> Any:
    """Let a cursor of grants see the grants alone, and nothing of their space."""

    def mark(turn: Turn, space: Space, *rest: Any) -> Any:
        found = original(turn, space, *rest)
        return [found[0], *found[2:]] if turn.op.name == "memory.grants.list" else found

    return mark


def _of_this_generation(original: Any) -> Any:
    """Let an export fail where the space was replaced since it was asked for."""

    def settle(turn: Turn, space: Space, job: Doc) -> Settled:
        if job["bundle"]["authority_generation"] != space.facts["authority_generation"]:
            return Settled(space, (), Code.WRONG_STATE)
        settled: Settled = original(turn, space, job)
        return settled

    return settle


def _trimmed(original: Any) -> Any:
    """Take the white space off the ends of a brought reflection's text."""

    def unread(reflection: Doc) -> Doc:
        brought: Doc = original(reflection)
        return {**brought, "text": brought["text"].strip()}

    return unread


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md", **oracle: Any) -> Fault:
    return Fault(f"r027_{name}", RULE, sentence, patched(*patches, **oracle), source)


def _ours(name: str, sentence: str, *patches: Patch, **oracle: Any) -> Fault:
    return _fault(name, sentence, *patches, source="ours", **oracle)


FAULTS: tuple[Fault, ...] = (
    _fault("adds_records", "records that the bundle lacks stay", _activated(_merged("records", "record_id"))),
    _fault("adds_subjects", "subjects that the bundle lacks stay", _activated(_merged("subjects", "subject_id"))),
    _fault("half_done_when_refused", "a refused activation brings in subjects and records",
           leaving(_half_done)),
    _fault("half_done_when_failed", "an activation that fails leaves subjects and records behind",
           Patch(jobs.SETTLERS, "memory.imports.activate", _half_failed)),
    _fault("active_space", "an activation works in an active space", _ignoring("refuse_unfrozen")),
    Fault("r027_grants_imported", RULE, "an activation brings in the grants of the exporting space", _grants_along),
    _fault("receipts_not_added", "an activation adds no receipts", Patch(activation, "added", _keys_alone)),
    _fault("discarded_activates", "a discarded import can be activated", Patch(imports, "ended", _keeping)),
    _ours("adds_candidates", "candidates that the bundle lacks stay", _activated(_merged("candidates", "candidate_id"))),
    _ours("adds_profiles", "profiles that the bundle lacks stay", _activated(_profiles_kept)),
    _ours("adds_reflections", "reflections that the bundle lacks stay", _activated(_reflections_kept)),
    _ours("adds_fences", "context fences that the bundle lacks stay", _activated(_fences_kept)),
    _ours("fences_not_brought", "context fences do not travel", _activated(_fences_not_brought)),
    _ours("unfreezes", "an activation unfreezes the space", _activated(_unfrozen)),
    _ours("drops_grants", "an activation drops the space's grants", _activated(_grants_dropped)),
    _ours("rights_travel", "who could read where it came from can read where it went",
          Patch(authority, "effective", _trusting)),
    _ours("replaces_receipts", "an activation replaces the space's receipts", Patch(activation, "added", _own_receipts_replaced)),
    _ours("brought_receipts_win", "a brought receipt takes the key of one of the space's own",
          Patch(activation, "added", _brought_wins)),
    _ours("keys_do_not_travel", "receipts travel without their keys", Patch(activation, "added", _without_keys)),
    _ours("receipts_redigested", "brought receipts are bound to another payload", Patch(activation, "received", _redigested)),
    _ours("revisions_reset", "brought records begin at revision 1", Patch(activation, "received", _restamped)),
    _ours("space_id_kept", "brought items keep the space that they come from", Patch(activation, "received", _space_kept)),
    _ours("receipts_keep_their_space", "brought receipts keep the space that they come from",
          Patch(activation, "received", _receipts_kept)),
    _ours("failed_is_discarded", "a failed import can be discarded",
          scoped.during("imports.discard", Patch(imports, "refuse_over", _unless_failed))),
    _ours("any_generation", "an activation takes any generation", _ignoring("refuse_other_generation")),
    _ours("two_generations", "an activation adds 2 to the generation",
          Patch(activation, "next_generation", lambda _original: lambda generation: generation + 2)),
    _ours("half_staged_activates", "a half staged import can be activated", _over_again(imports.STAGED, imports.STAGING)),
    _ours("activates_twice", "an import can be activated again", _over_again(imports.STAGED, imports.ACTIVATED)),
    _ours("failed_activates", "a failed import can be activated", _over_again(imports.STAGED, imports.FAILED)),
    _ours("discards_twice", "an import that is over can be discarded", _ignoring("refuse_over")),
    _ours("not_checked_again", "a pending activation is not checked again when it settles",
          Patch(jobs.SETTLERS, "memory.imports.activate", _unchecked_when_settled)),
    _ours("failure_uses_up", "an import is used up by an activation that fails",
          Patch(jobs.SETTLERS, "memory.imports.activate", _used_up)),
    _ours("cursors_survive", "cursors survive an activation of the same items",
          Patch(cursors, "space_mark", lambda _original: lambda space: space.facts.get("state")), choices=LASTING),
    _ours("cursors_of_grants_survive", "a cursor of grants survives an activation",
          Patch(cursors, "mark", _unmarked_grants), choices=LASTING),
    _ours("generators_cover_all", "a brought reflection is stale by changes anywhere", Patch(activation, "pin", _everywhere)),
    _ours("bases_emptied", "brought reflections lose the records of their basis", Patch(activation, "unread", _fresh)),
    _ours("reflection_trimmed", "white space around the text of a brought reflection is lost",
          Patch(activation, "unread", _trimmed)),
    _ours("export_of_another_generation_fails", "an export that is pending while a space is replaced fails",
          Patch(jobs.SETTLERS, "memory.exports.create", _of_this_generation)),
)  # fmt: skip
