"""Faults of MEM-R007: pending receipts that are not counted, not settled, or should not be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.oracle import exports, fences, jobs, receipts, spaces, steps
from conformance.oracle.policy import chunks
from conformance.oracle.provider import Oracle
from conformance.oracle.state import Doc, Space, State
from conformance.oracle.turn import Outcome, Settled, Turn
from conformance.wire.vocabulary import Code
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, always, patched

RULE = "MEM-R007"


def _all_receipts(_original: Any) -> Any:
    return lambda space: len(space.receipts.docs)


def _counting(count: Callable[[Turn, Space], int]) -> Any:
    """Tell another number of pending receipts of each listed space."""

    def change(turn: Turn, _space: Space, members: Doc) -> Doc:
        listed = [(one, turn.state.spaces[one["space_id"]]) for one in members["spaces"]]
        return {**members, "spaces": [{**one, "pending_receipts": count(turn, space)} for one, space in listed]}

    return patched(altered.answer("spaces.list", change))


def _in_any_space(turn: Turn, _space: Space) -> int:
    return sum(len(space.jobs) for space in turn.state.spaces.values())


def _of_the_caller(turn: Turn, space: Space) -> int:
    return sum(space.receipts.docs[number]["principal_id"] == turn.caller for number in space.jobs)


def _pending_create(original: Any) -> Any:
    def step(state: State, caller: str, op: str, request: Doc, env: Any, now: str, *, holds: bool = False) -> Any:
        state, reply = original(state, caller, op, request, env, now, holds=holds)
        if holds and op == "memory.records.create" and isinstance(reply, dict):
            receipt = {name: value for name, value in reply["receipt"].items() if name != "settled_at"}
            reply = {"receipt": {**receipt, "state": receipts.PENDING}}
        return state, reply

    return step


def _as_it_was(_original: Any) -> Any:
    return lambda state, *_args: state


def _readable(original: Any) -> Any:
    def get(turn: Turn, space: Space, request: Doc) -> Outcome:
        for job in space.jobs.values():
            if job.pinned.get("export_id") == request["export_id"]:
                return Outcome(space, {"bundle": job.pinned["bundle"], "chunk": job.pinned["chunks"][0]})
        outcome: Outcome = original(turn, space, request)
        return outcome

    return get


def _not_while_frozen(original: Any) -> Any:
    def settle(turn: Turn, space: Space, job: Doc) -> Settled:
        done: Settled = Settled(space, (), Code.SPACE_FROZEN) if fences.is_frozen(space) else original(turn, space, job)
        return done

    return settle


def _only_settled(original: Any) -> Any:
    def find_replay(turn: Turn, space: Space, request: Doc, digest: str) -> Doc | None:
        known: Doc | None = original(turn, space, request, digest)
        return None if known is not None and known["state"] == receipts.PENDING else known

    return find_replay


def _without_jobs(original: Any) -> Any:
    def restore(self: Oracle, saved: Doc) -> None:
        original(self, saved)
        spaces_ = self.state.spaces
        for space_id, space in spaces_.items():
            spaces_ = spaces_.set(space_id, space.having(jobs=Space("").jobs))
        self.state = self.state._replace(spaces=spaces_, waiting=frozenset())

    return restore


def _exported_when_settled(original: Any) -> Any:
    def settle(turn: Turn, space: Space, job: Doc) -> Settled:
        size = len(job["chunks"][0]["items"]) or 1
        made = chunks.make_chunks(job["export_id"], turn.choices.pack(list(exports.items(turn, space)), size))
        computed = ("chunk_count", "counts", "chunk_digests", "digest")
        facts = {name: value for name, value in job["bundle"].items() if name not in computed}
        settled: Settled = original(turn, space, {**job, "chunks": made, "bundle": chunks.make_bundle(facts, made)})
        return settled

    return settle


def _reflected_when_settled(original: Any) -> Any:
    def settle(turn: Turn, space: Space, job: Doc) -> Settled:
        reflection = job["reflection"]
        now = [{**one, "revision": _revision(space, one["record_id"])} for one in reflection["basis"]["records"]]
        basis = {**reflection["basis"], "records": now}
        settled: Settled = original(turn, space, {**job, "reflection": {**reflection, "basis": basis}})
        return settled

    return settle


def _revision(space: Space, record_id: str) -> int:
    record = space.records.get(record_id)
    return 1 if record is None else int(record["revision"])


def _unless(wrong: Callable[[Space, Doc], bool]) -> Any:
    """Let what is pending fail where something is wrong when it settles."""

    def wrap(original: Any) -> Any:
        def settle(turn: Turn, space: Space, job: Doc) -> Settled:
            if wrong(space, job):
                return Settled(space, (), Code.WRONG_STATE)
            settled: Settled = original(turn, space, job)
            return settled

        return settle

    return wrap


def _is_archived(space: Space, job: Doc) -> bool:
    subject = space.subjects.get(job["reflection"]["selection"]["subject_id"])
    return subject is not None and subject["state"] == fences.ARCHIVED


def _lost_a_grant(space: Space, _job: Doc) -> bool:
    return any(grant["state"] == "revoked" for grant in space.grants.all())


FAULTS: tuple[Fault, ...] = (
    Fault(
        "r007_counts_settled_receipts",
        RULE,
        "settled receipts count too",
        patched(Patch(spaces, "pending_receipts", _all_receipts)),
    ),
    Fault("r007_reports_zero", RULE, "pending_receipts is always 0", patched(Patch(spaces, "pending_receipts", always(0)))),
    Fault("r007_create_is_pending", RULE, "records.create may answer pending", patched(Patch(steps, "step", _pending_create))),
    Fault(
        "r007_never_settles",
        RULE,
        "what was pending never settles",
        patched(Patch(jobs, "settle_all", _as_it_was), Patch(jobs, "settle_one", _as_it_was)),
    ),
    Fault("r007_counts_every_space", RULE, "pending receipts of other spaces count too", _counting(_in_any_space), source="ours"),
    Fault(
        "r007_counts_the_callers_own",
        RULE,
        "a caller is told of its own pending receipts alone",
        _counting(_of_the_caller),
        source="ours",
    ),
    Fault(
        "r007_pending_export_is_readable",
        RULE,
        "an export can be read while its receipt is pending",
        patched(altered.step("exports.get", _readable)),
        source="ours",
    ),
    Fault(
        "r007_freeze_fails_what_is_pending",
        RULE,
        "a generation that was pending when the space was frozen settles failed",
        patched(Patch(jobs.SETTLERS, "memory.reflections.generate", _not_while_frozen)),
        source="ours",
    ),
    Fault(
        "r007_replay_of_a_pending_request_is_a_second_one",
        RULE,
        "a request that is repeated while it is pending makes a second receipt",
        patched(Patch(receipts, "find_replay", _only_settled)),
        source="ours",
    ),
    Fault(
        "r007_restart_forgets_what_is_pending",
        RULE,
        "a restart leaves pending receipts pending for ever and counts them no more",
        patched(Patch(Oracle, "restore", _without_jobs)),
        source="ours",
    ),
    Fault(
        "r007_exports_what_is_there_when_it_settles",
        RULE,
        "an export holds what is there when it settles",
        patched(Patch(jobs.SETTLERS, "memory.exports.create", _exported_when_settled)),
        source="ours",
    ),
    Fault(
        "r007_reflects_what_is_there_when_it_settles",
        RULE,
        "the basis of a reflection holds the revisions of when it settles",
        patched(Patch(jobs.SETTLERS, "memory.reflections.generate", _reflected_when_settled)),
        source="ours",
    ),
    Fault(
        "r007_generation_minds_the_archive",
        RULE,
        "a pending generation fails where its subject was archived meanwhile",
        patched(Patch(jobs.SETTLERS, "memory.reflections.generate", _unless(_is_archived))),
        source="ours",
    ),
    Fault(
        "r007_export_minds_a_revocation",
        RULE,
        "a pending export fails where a grant was revoked meanwhile",
        patched(Patch(jobs.SETTLERS, "memory.exports.create", _unless(_lost_a_grant))),
        source="ours",
    ),
)
