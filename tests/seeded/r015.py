"""Faults that MEM-R015 (receipts) must catch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from immutables import Map

from conformance.oracle import authority, imports, jobs, profiles, receipts, records, reviews, steps, store
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Ledger, Space
from conformance.oracle.turn import Outcome, Turn, changed
from conformance.wire import canonical
from conformance.wire.bundle import instant
from conformance.wire.vocabulary import Code
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, patched
from tests.seeded.refused import leaving

RULE = "MEM-R015"


def _made(change: Callable[[Turn, Doc, Doc], Doc]) -> Patch:
    """Change each receipt as it is made: ``change`` takes the turn, the request and the receipt."""

    def wrap(original: Any) -> Any:
        def make(turn: Turn, space: Space, request: Doc, *rest: Any) -> Doc:
            return change(turn, request, original(turn, space, request, *rest))

        return make

    return Patch(receipts, "make", wrap)


def _read(change: Callable[[Turn, Space, Doc], Doc]) -> Patch:
    """Change each receipt as it is read: ``change`` takes the turn, the space and the receipt."""

    def wrap(original: Any) -> Any:
        def get(turn: Turn, space: Space, request: Doc) -> Outcome:
            outcome: Outcome = original(turn, space, request)
            return outcome._replace(members={"receipt": change(turn, space, outcome.members["receipt"])})

        return get

    return Patch(steps.STEPS, "memory.receipts.get", wrap)


def _digest(*left_out: str) -> Patch:
    def digest(request: Doc) -> str:
        return canonical.digest({name: value for name, value in request.items() if name not in left_out})

    return Patch(receipts, "payload_digest", lambda _original: digest)


def _plain(_original: Any) -> Any:
    """Digest a request as this language writes it."""

    def digest(request: Doc) -> str:
        text = json.dumps(request, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    return digest


def _with_summary(_turn: Turn, request: Doc, receipt: Doc) -> Doc:
    text = request.get("content", {}).get("text")
    return receipt if text is None else {**receipt, "extensions": {"audit": {"summary": text[:40]}}}


def _with_extensions(_turn: Turn, request: Doc, receipt: Doc) -> Doc:
    return {**receipt, "extensions": request.get("extensions", {})}


def _with_override(_turn: Turn, request: Doc, receipt: Doc) -> Doc:
    override = request.get("decision", {}).get("content_override")
    return receipt if override is None else {**receipt, "extensions": {"audit": {"override": override}}}


def _with_fragments(_turn: Turn, request: Doc, receipt: Doc) -> Doc:
    fragments = request.get("decision", {}).get("fragments")
    return receipt if fragments is None else {**receipt, "extensions": {"audit": {"made": fragments}}}


def _verifying(original: Any) -> Any:
    """Keep what is verified in the receipt's job, so that a failure can tell of it."""

    def staged(turn: Turn, space: Space, import_id: str, held: Doc, *, final: bool) -> Outcome:
        outcome: Outcome = original(turn, space, import_id, held, final=final)
        job = outcome.job
        return outcome if job is None else outcome._replace(job=job._replace(pinned={**job.pinned, "held": held}))

    return staged


def _telling_failure(original: Any) -> Any:
    """Settle a failed receipt with the items that failed."""

    def settle(turn: Turn, space: Space, number: int) -> Space:
        job = space.jobs[number]
        after: Space = original(turn, space, number)
        receipt = after.receipts.docs[number]
        if receipt["state"] != receipts.FAILED:
            return after
        told = {**receipt, "extensions": {"failure": {"chunks": job.pinned.get("held", {}).get("chunks", [])}}}
        return after.having(receipts=after.receipts.change(number, told))

    return settle


def _now_generation(_turn: Turn, space: Space, receipt: Doc) -> Doc:
    return {**receipt, "authority_generation": space.facts["authority_generation"]}


def _now_revision(_turn: Turn, space: Space, receipt: Doc) -> Doc:
    def fresh(entry: Doc) -> Doc:
        record = space.records.get(entry["id"]) if entry["type"] == "record" else None
        return entry if record is None else records.affected(record)

    return {**receipt, "affected": [fresh(entry) for entry in receipt["affected"]]}


def _forgotten(turn: Turn, _space: Space, receipt: Doc) -> Doc:
    """Refuse what is more than about three months old."""
    (day, _), (then, _) = turn.instant, instant(receipt["created_at"])
    months = (int(day[:4]) - int(then[:4])) * 12 + int(day[5:7]) - int(then[5:7])
    if months > 3:
        raise Refusal(Code.NOT_FOUND)
    return receipt


def _without_the_deleted(_turn: Turn, space: Space, receipt: Doc) -> Doc:
    made = [space.records.get(entry["id"]) for entry in receipt["affected"] if entry["type"] == "record"]
    if any(record is not None and records.is_tombstone(record) for record in made):
        raise Refusal(Code.NOT_FOUND)
    return receipt


def _kept_refusal(turn: Turn, space: Space, request: Doc, refusal: Refusal) -> Space:
    """Keep a failed receipt of a refused request, under no key."""
    number = turn.next_number()
    made = receipts.make(turn, space, request, canonical.digest(request), f"rcpt-refused-{number}")
    failed = receipts.failed(made, (), turn.bundle.answered(refusal.symbol).code, turn.now)
    ledger = space.receipts
    kept = Ledger(ledger.docs.set(number, failed), ledger.ids.set(failed["receipt_id"], number), ledger.keys)
    return space.having(receipts=kept)


def _anyone(original: Any) -> Any:
    def is_own(turn: Turn, receipt: Doc) -> bool:
        return original(turn, receipt) or any(authority.lists_capability(grant, "records_read") for grant in turn.grants)

    return is_own


def _any_admin(_original: Any) -> Any:
    return lambda turn, need: any(authority.lists_capability(grant, need.capability) for grant in turn.grants)


def _effective_own(original: Any) -> Any:
    return lambda turn, receipt: original(turn, receipt) and bool(turn.grants)


def _in_any_space(original: Any) -> Any:
    def get(turn: Turn, space: Space, request: Doc) -> Outcome:
        holding = [one for one in turn.state.spaces.values() if request["receipt_id"] in one.receipts.ids]
        outcome: Outcome = original(turn, space.having(receipts=holding[0].receipts) if holding else space, request)
        return outcome

    return get


def _without_ids(original: Any) -> Any:
    return lambda saved: original(saved)._replace(ids=Map())


def _old_revision(_original: Any) -> Any:
    return lambda record: changed("record", record["record_id"], max(1, record["revision"] - 1))


def _quoted(_original: Any) -> Any:
    """Write the kind of a profile as a part of a path."""
    return lambda document: changed(
        "profile", f"{document['subject_id']}/{quote(document['kind'], safe='')}", document["revision"]
    )


def _records_first(original: Any) -> Any:
    def decided(*given: Any) -> Outcome:
        outcome: Outcome = original(*given)
        return outcome._replace(affected=(*outcome.affected[1:], outcome.affected[0]))

    return decided


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md") -> Fault:
    return Fault(f"r015_{name}", RULE, sentence, patched(*patches), source)


def _generation_of_settling(original: Any) -> Any:
    def settlement(turn: Turn, receipt: Doc, done: Any) -> Doc:
        settled: Doc = original(turn, receipt, done)
        return {**settled, "authority_generation": done.space.facts["authority_generation"]}

    return settlement


def _settled_when_made(original: Any) -> Any:
    def settle(receipt: Doc, *rest: Any) -> Doc:
        settled: Doc = original(receipt, *rest)
        return {**settled, "settled_at": receipt["created_at"]}

    return settle


def _of_any_space(original: Any) -> Any:
    """Read a caller's own receipt in whichever space it is asked for."""

    def get(turn: Turn, space: Space, request: Doc) -> Outcome:
        for other in turn.state.spaces.values():
            found = other.receipts.by_id(request["receipt_id"])
            if found is not None and found["principal_id"] == turn.caller:
                space = other
        outcome: Outcome = original(turn, space, request)
        return outcome

    return get


FAULTS: tuple[Fault, ...] = (
    _fault("f23_summary_in_receipt", "a receipt quotes the text of its request", _made(_with_summary), source="F23"),
    _fault("request_extensions_in_receipt", "the request's extensions go to its receipt", _made(_with_extensions)),
    _fault("override_in_receipt", "the receipt of a review keeps the override", _made(_with_override), source="ours"),
    _fault(
        "generation_of_settling", "a receipt tells the generation that it settled in",
        Patch(jobs, "settlement", _generation_of_settling), source="ours",
    ),
    _fault(
        "failed_when_made", "a receipt that settles failed tells that it settled when it was made",
        Patch(receipts, "failed", _settled_when_made), source="ours",
    ),
    _fault(
        "committed_when_made", "a receipt that settles committed tells that it settled when it was made",
        Patch(receipts, "committed", _settled_when_made), source="ours",
    ),
    _fault("fragments_in_receipt", "the receipt of a review keeps its fragments", _made(_with_fragments), source="ours"),
    _fault(
        "failing_chunk_in_receipt", "a failed receipt shows the chunks that failed",
        Patch(imports, "_staged", _verifying), Patch(jobs, "settle", _telling_failure),
    ),
    _fault("digest_without_extensions", "the digest leaves the extensions out", _digest("extensions")),
    _fault("digest_without_key", "the digest leaves the key out", _digest("idempotency_key")),
    _fault("generation_of_now", "a receipt is read with the present generation", _read(_now_generation)),
    _fault("revision_of_now", "a receipt is read with the present revisions", _read(_now_revision)),
    _fault("receipt_for_a_refusal", "a refused request leaves a failed receipt", leaving(_kept_refusal)),
    _fault("forgotten_after_three_months", "a receipt is gone after three months", _read(_forgotten), source="ours"),
    _fault("gone_with_its_record", "a receipt is gone once its record was deleted", _read(_without_the_deleted), source="ours"),
    _fault("read_by_readers", "whoever may read records reads all receipts", Patch(receipts, "is_own", _anyone), source="ours"),
    _fault(
        "read_by_any_admin", "admin of one subject reads all receipts",
        Patch(authority, "holds_space", _any_admin), source="ours",
    ),
    _fault(
        "own_needs_a_grant", "an own receipt takes an effective grant",
        Patch(receipts, "is_own", _effective_own), source="ours",
    ),
    _fault(
        "read_in_any_space", "a receipt is found in whatever space",
        Patch(steps.STEPS, "memory.receipts.get", _in_any_space), source="ours",
    ),
    _fault("lost_at_restart", "a restart forgets the ids of receipts", Patch(store, "_load_ledger", _without_ids), source="ours"),
    _fault(
        "old_revision", "affected gives a record's revision before the change",
        Patch(records, "affected", _old_revision), source="ours",
    ),
    _fault(
        "profile_quoted", "affected names a profile's kind as a part of a path is written",
        Patch(profiles, "affected", _quoted), source="ours",
    ),
    _fault(
        "records_first", "a review's affected lists the candidate last",
        Patch(reviews, "decided", _records_first), source="ours",
    ),
    _fault(
        "digest_of_plain_json", "the digest is over the request as the provider's language writes it",
        Patch(receipts, "payload_digest", _plain), source="ours",
    ),
    _fault(
        "own_receipt_in_any_space", "a caller's own receipt is read under the id of another space",
        altered.step("receipts.get", _of_any_space), source="ours",
    ),
)  # fmt: skip
