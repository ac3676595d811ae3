"""Faults that MEM-R014 (durable idempotency) must catch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from immutables import Map

from conformance.oracle import authority, fences, receipts, records, state, store
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Ledger, Space
from conformance.oracle.turn import Turn
from conformance.wire.bundle import instant
from conformance.wire.vocabulary import Code
from strategies.timestamps import shifted
from tests.seeded.fault import Fault, Patch, always, patched
from tests.seeded.races import Patches, racing
from tests.seeded.refused import leaving

RULE = "MEM-R014"
KEPT = 250
WRITERS = ("capture", "records.create")


def _key(make: Callable[[str, str, str], tuple[str, ...]]) -> Patch:
    return Patch(receipts, "key_of", lambda _original: make)


def _replays(judge: Callable[[Turn, Space, Doc, Doc], Doc | None]) -> Patch:
    """Let ``judge`` have a look at every receipt that a known key gives, before it is answered."""

    def wrap(original: Any) -> Any:
        def find(turn: Turn, space: Space, request: Doc, digest: str) -> Doc | None:
            known = original(turn, space, request, digest)
            return None if known is None else judge(turn, space, request, known)

        return find

    return Patch(receipts, "find_replay", wrap)


def _in_any_space(original: Any) -> Any:
    def find(turn: Turn, space: Space, request: Doc, digest: str) -> Doc | None:
        found: Doc | None = original(turn, space, request, digest)
        for other in turn.state.spaces.values():
            found = found or original(turn, other, request, digest)
        return found

    return find


def _spent(turn: Turn, space: Space, request: Doc, refusal: Refusal) -> Space:
    """Bind the key of a refused request to a payload that nobody can send again."""
    if refusal.symbol is Code.KEY_REUSED:
        return space
    number = turn.next_number()
    key = receipts.key_of(turn.caller, turn.op.name, request["idempotency_key"])
    unsettled = receipts.make(turn, space, request, "0" * 64, f"refused-{number}")
    ledger = space.receipts
    return space.having(receipts=ledger._replace(docs=ledger.docs.set(number, unsettled), keys=ledger.keys.set(key, number)))


def _spent_by_a_freeze(turn: Turn, space: Space, request: Doc, refusal: Refusal) -> Space:
    return _spent(turn, space, request, refusal) if refusal.symbol is Code.SPACE_FROZEN else space


def _without_keys(original: Any) -> Any:
    return lambda saved: original(saved)._replace(keys=Map())


def _without_failed(original: Any) -> Any:
    def load(saved: Doc) -> Ledger:
        ledger: Ledger = original(saved)
        kept = {key: number for key, number in ledger.keys.items() if ledger.docs[number]["state"] != receipts.FAILED}
        return ledger._replace(keys=Map(kept))

    return load


def _latest(original: Any) -> Any:
    def by_key(ledger: Ledger, key: tuple[str, ...]) -> Doc | None:
        number = ledger.keys.get(key)
        newer = 0 if number is None else sum(other > number for other in ledger.docs)
        return None if newer > KEPT else original(ledger, key)

    return by_key


def _gone(_turn: Turn, space: Space, _request: Doc, known: Doc) -> Doc | None:
    made = [space.records.get(entry["id"]) for entry in known["affected"] if entry["type"] == "record"]
    return None if any(record is not None and records.is_tombstone(record) for record in made) else known


def _frozen(turn: Turn, space: Space, _request: Doc, known: Doc) -> Doc:
    fences.refuse_frozen(turn, space)
    return known


def _archived(_turn: Turn, space: Space, request: Doc, known: Doc) -> Doc:
    scope = request.get("scope", {})
    subject = space.subjects.get(scope.get("subject_id", ""))
    if subject is not None:
        fences.refuse_archived(subject)
    return known


def _but_extensions(original: Any) -> Any:
    """Take a request for a repeat that differs from it in extensions alone, in all operations but the two that write content."""

    def find(turn: Turn, space: Space, request: Doc, digest: str) -> Doc | None:
        known: Doc | None = space.receipts.by_key(receipts.key_of(turn.caller, turn.op.name, request["idempotency_key"]))
        plain = {name: member for name, member in request.items() if name != "extensions"}
        if known is not None and turn.op.stem not in WRITERS and receipts.payload_digest(plain) == known["payload_digest"]:
            return known
        found: Doc | None = original(turn, space, request, digest)
        return found

    return find


def _settled_alone(original: Any) -> Any:
    """Refuse another payload only under the key of what is settled."""
    return lambda known, digest: None if known["state"] == receipts.PENDING else original(known, digest)


def _spent_by(*codes: Code) -> Patch:
    """Use the key of a request up where it is refused with one of some codes."""
    return leaving(
        lambda turn, space, request, refusal: _spent(turn, space, request, refusal) if refusal.symbol in codes else space
    )


def _lifted(_turn: Turn, space: Space, request: Doc, known: Doc) -> Doc | None:
    context_id = request.get("target", {}).get("context_id")
    undone = context_id is not None and request["action"] == "fence" and not fences.is_fenced_context(space, context_id)
    return None if undone else known


def _granted(turn: Turn, space: Space, _request: Doc, known: Doc) -> Doc:
    turn.grants = authority.effective(turn, space)
    authority.enter(turn)
    return known


def _committed(_turn: Turn, _space: Space, _request: Doc, known: Doc) -> Doc | None:
    return None if known["state"] == receipts.FAILED else known


def _settled(_turn: Turn, _space: Space, _request: Doc, known: Doc) -> Doc | None:
    return None if known["state"] == receipts.PENDING else known


def _but_exports(turn: Turn, _space: Space, _request: Doc, known: Doc) -> Doc | None:
    return None if turn.op.method == "exports_create" else known


def _stamped(turn: Turn, _space: Space, _request: Doc, known: Doc) -> Doc:
    return {**known, "created_at": turn.now}


def _as_at_first(_turn: Turn, _space: Space, _request: Doc, known: Doc) -> Doc:
    """Tell a receipt that settled later as it was told at first."""
    if known.get("settled_at", known["created_at"]) == known["created_at"]:
        return known
    return {name: value for name, value in known.items() if name not in ("settled_at", "error")} | {"state": receipts.PENDING}


def _of_this_month(turn: Turn, _space: Space, _request: Doc, known: Doc) -> Doc | None:
    """Forget a key after thirty days."""
    return None if instant(shifted(known["created_at"], 30 * 86_400)) < turn.instant else known


def _known_on_arrival(*stems: str) -> Patches:
    """Look for a key in the state that a request met on arrival, in some operations or in all."""

    def patches(arrived: state.State) -> list[Patch]:
        def wrap(original: Any) -> Any:
            def find(turn: Turn, space: Space, request: Doc, digest: str) -> Doc | None:
                late = not stems or turn.op.stem in stems
                found: Doc | None = original(turn, arrived.spaces.get(space.space_id, space) if late else space, request, digest)
                return found

            return find

        return [Patch(receipts, "find_replay", wrap)]

    return patches


def _failed_activations_are_free(original: Any) -> Any:
    def find_replay(turn: Turn, space: Space, request: Doc, digest: str) -> Doc | None:
        known = space.receipts.by_key(receipts.key_of(turn.caller, turn.op.name, request["idempotency_key"]))
        failed = known is not None and known["state"] == receipts.FAILED and known["payload_digest"] != digest
        free = failed and turn.op.stem == "imports.activate"
        found: Doc | None = None if free else original(turn, space, request, digest)
        return found

    return find_replay


def _none_after_the_end(original: Any) -> Any:
    """Forget the keys of a caller whose grants have all ended by themselves."""

    def find_replay(turn: Turn, space: Space, request: Doc, digest: str) -> Doc | None:
        held = space.grants.of(turn.caller)
        if held and all(authority.is_expired(grant, turn) for grant in held):
            raise Refusal(Code.NOT_FOUND)
        found: Doc | None = original(turn, space, request, digest)
        return found

    return find_replay


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md") -> Fault:
    return Fault(f"r014_{name}", RULE, sentence, patched(*patches), source)


FAULTS: tuple[Fault, ...] = (
    _fault("key_without_principal", "two principals share a key", _key(lambda _principal, op, key: (op, key))),
    _fault("key_without_op", "two operations share a key", _key(lambda principal, _op, key: (principal, key))),
    _fault("key_without_space", "two spaces share a key", Patch(receipts, "find_replay", _in_any_space)),
    _fault("conflict_not_detected", "another payload replays", Patch(receipts, "refuse_other_payload", always(None))),
    _fault("extensions_are_no_payload", "what differs in extensions alone replays, but in capture and records.create",
           Patch(receipts, "find_replay", _but_extensions), source="ours"),
    _fault("refusal_uses_the_key", "a refused request uses up its key", leaving(_spent)),
    _fault("keys_lost_at_restart", "a restart forgets the keys", Patch(store, "_load_ledger", _without_keys)),
    _fault("replay_runs_again_after_deletion", "a replay runs again once its record was deleted", _replays(_gone)),
    _fault("replay_refused_while_frozen", "a frozen space refuses replays", _replays(_frozen)),
    _fault(
        "f02_replay_checks_the_subject", "a replay is refused once its subject is archived",
        _replays(_archived), source="F02",
    ),
    _fault(
        "f03_key_taken_before_the_freeze", "a request refused while frozen uses up its key",
        leaving(_spent_by_a_freeze), source="F03",
    ),
    Fault(
        "r014_f04_key_taken_when_done", RULE, "requests under one key that arrive together all take effect",
        racing(_known_on_arrival()), "F04",
    ),
    _fault("f25_old_keys_are_forgotten", f"only the last {KEPT} keys are known", Patch(Ledger, "by_key", _latest), source="F25"),
    _fault("replay_needs_a_grant", "a replay is refused without an effective grant", _replays(_granted), source="ours"),
    _fault("failed_key_is_free", "the key of a failed receipt runs again", _replays(_committed), source="ours"),
    _fault(
        "failed_keys_lost_at_restart", "a restart forgets failed keys",
        Patch(store, "_load_ledger", _without_failed), source="ours",
    ),
    _fault("pending_key_runs_again", "a repeat while pending runs again", _replays(_settled), source="ours"),
    _fault("exports_have_no_key", "a repeated export is made again", _replays(_but_exports), source="ours"),
    _fault("replay_is_stamped_anew", "a replayed receipt says when it was replayed", _replays(_stamped), source="ours"),
    _fault("keys_forgotten_after_a_month", "a key is forgotten after thirty days", _replays(_of_this_month), source="ours"),
    _fault("replay_tells_the_first_answer", "a repeat tells a settled receipt as pending", _replays(_as_at_first), source="ours"),
    _fault(
        "keys_ignore_case", "keys that differ in case are one key",
        _key(lambda principal, op, key: (principal, op, key.casefold())), source="ours",
    ),
    _fault(
        "failed_activations_are_free", "the key of a failed activation takes another payload",
        Patch(receipts, "find_replay", _failed_activations_are_free), source="ours",
    ),
    _fault(
        "no_replay_after_the_end", "a replay is refused once all grants of its caller have ended",
        Patch(receipts, "find_replay", _none_after_the_end), source="ours",
    ),
    _fault(
        "keys_are_trimmed", "keys that differ in outer spaces are one key",
        _key(lambda principal, op, key: (principal, op, key.strip())), source="ours",
    ),
    _fault("pending_key_takes_all", "another payload replays while the key is pending",
           Patch(receipts, "refuse_other_payload", _settled_alone), source="ours"),
    _fault("want_uses_the_key", "a generation refused for want of material uses up its key",
           _spent_by(Code.PROFILE_INCOMPLETE, Code.INSUFFICIENT_DATA), source="ours"),
    _fault("early_chunk_uses_the_key", "a chunk that comes too early uses up its key",
           _spent_by(Code.IMPORT_SEQUENCE), source="ours"),
    _fault("unfrozen_uses_the_key", "an activation before the freeze uses up its key",
           _spent_by(Code.SPACE_NOT_FROZEN), source="ours"),
    _fault("fence_fenced_again", "the replay of a fence that was lifted fences again", _replays(_lifted), source="ours"),
    *(
        Fault(f"r014_{word}_raced", RULE, f"requests of {stem} under one key that arrive together all take effect",
              racing(_known_on_arrival(stem)), "ours")
        for word, stem in (("grants", "grants.grant"), ("ensures", "subjects.ensure"), ("chunks", "imports.stage"))
    ),
)  # fmt: skip
