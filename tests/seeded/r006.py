"""Faults of MEM-R006: a freeze that stops too little, too much, or the wrong space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.oracle import authority, fences, receipts, spaces, steps
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire.vocabulary import Code
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, Wrapper, patched

RULE = "MEM-R006"

HARMLESS = ("memory.describe", "memory.spaces.list", "memory.receipts.get")


def _is_frozen(_turn: Turn, space: Space) -> bool:
    return fences.is_frozen(space)


def _forgetting(*stems: str) -> Any:
    def wrap(original: Any) -> Any:
        def refuse_frozen(turn: Turn, space: Space) -> None:
            if turn.op.stem not in stems:
                original(turn, space)

        return refuse_frozen

    return patched(Patch(fences, "refuse_frozen", wrap))


def _reads_too(original: Any) -> Any:
    def take(turn: Turn, space: Space, request: Doc) -> Outcome:
        if not turn.op.mutation and turn.op.name not in HARMLESS and space.facts and fences.is_frozen(space):
            raise Refusal(Code.SPACE_FROZEN)
        outcome: Outcome = original(turn, space, request)
        return outcome

    return take


def _replays_too(original: Any) -> Any:
    def find_replay(turn: Turn, space: Space, request: Doc, digest: str) -> Doc | None:
        if space.facts and fences.is_frozen(space) and not turn.op.while_frozen:
            raise Refusal(Code.SPACE_FROZEN)
        known: Doc | None = original(turn, space, request, digest)
        return known

    return find_replay


def _through_a_freeze(passes: Callable[[Space, Doc], bool]) -> Wrapper:
    """Do what ``passes`` says of a space and a request whatever the state of the space."""

    def wrap(original: Any) -> Any:
        def step(turn: Turn, space: Space, request: Doc) -> Outcome:
            frozen = fences.is_frozen(space) and passes(space, request)
            outcome: Outcome = original(turn, altered.facts(space, state=fences.ACTIVE) if frozen else space, request)
            return outcome._replace(space=altered.facts(outcome.space, state=fences.FROZEN)) if frozen else outcome

        return step

    return wrap


def _by_admin_alone(turn: Turn, space: Space) -> bool:
    """Say whether a caller that is no admin does something in a frozen space."""
    return fences.is_frozen(space) and not any("admin" in grant["capabilities"] for grant in authority.effective(turn, space))


def _is_kindless(space: Space, request: Doc) -> bool:
    return "kind" not in (space.candidates.get(request["candidate_id"]) or {"kind": ""})


def _thawed(space: Space) -> Space:
    return altered.facts(space, state=fences.ACTIVE)


def _freezing_again(original: Any) -> Any:
    def freeze(turn: Turn, space: Space, request: Doc) -> Outcome:
        if fences.is_frozen(space):
            return Outcome(space, affected=(spaces.affected(space.facts),))
        outcome: Outcome = original(turn, space, request)
        return outcome

    return freeze


def _without_fences(_turn: Turn, _before: Space, after: Space) -> Space:
    return altered.facts(after, fenced_context_ids=[])


def _any_space(original: Any) -> Any:
    def refuse_frozen(turn: Turn, space: Space) -> None:
        frozen = [one for one in turn.state.spaces.values() if fences.is_frozen(one)]
        original(turn, frozen[0] if frozen else space)

    return refuse_frozen


FAULTS: tuple[Fault, ...] = (
    Fault("r006_capture_goes_through", RULE, "a frozen space takes captures", _forgetting("capture")),
    Fault("r006_reads_refused", RULE, "a frozen space refuses reads", patched(Patch(steps, "take", _reads_too))),
    Fault(
        "r006_revocation_refused",
        RULE,
        "a frozen space refuses to revoke grants",
        patched(altered.refusing("grants.revoke", _is_frozen, Code.SPACE_FROZEN)),
    ),
    *(
        Fault(
            f"r006_frozen_{word}_by_admin_alone",
            RULE,
            f"in a frozen space {stem} demands an admin",
            patched(altered.refusing(stem, _by_admin_alone, Code.SPACE_FROZEN)),
            source="ours",
        )
        for word, stem in (("revocation", "grants.revoke"), ("export", "exports.create"), ("staging", "imports.stage"))
    ),
    Fault("r006_replays_refused", RULE, "a frozen space refuses replays", patched(Patch(receipts, "find_replay", _replays_too))),
    Fault(
        "f21_an_operation_taken_for_a_read",
        RULE,
        "candidates.dismiss, taken for a read, goes through while the space is frozen",
        _forgetting("candidates.dismiss"),
        source="F21",
    ),
    Fault(
        "r006_existing_subject_ensured",
        RULE,
        "a frozen space takes ensure of a subject that exists already",
        patched(
            altered.step("subjects.ensure", _through_a_freeze(lambda space, request: request["subject_id"] in space.subjects))
        ),
        source="ours",
    ),
    Fault(
        "r006_export_refused",
        RULE,
        "a frozen space refuses to be exported",
        patched(altered.refusing("exports.create", _is_frozen, Code.SPACE_FROZEN)),
        source="ours",
    ),
    Fault(
        "r006_restart_unfreezes",
        RULE,
        "a restart unfreezes every space",
        patched(altered.restored(_thawed)),
        source="ours",
    ),
    Fault(
        "r006_second_freeze_accepted",
        RULE,
        "freezing a frozen space commits without an effect",
        patched(altered.step("spaces.freeze", _freezing_again)),
        source="ours",
    ),
    Fault(
        "r006_unfreeze_lifts_fences",
        RULE,
        "unfreezing lifts the fences of contexts too",
        patched(altered.effect("spaces.unfreeze", _without_fences)),
        source="ours",
    ),
    Fault(
        "r006_freeze_stops_every_space",
        RULE,
        "a frozen space stops the writes of every space",
        patched(Patch(fences, "refuse_frozen", _any_space)),
        source="ours",
    ),
    Fault(
        "r006_kindless_review_while_frozen",
        RULE,
        "a candidate that was captured without a kind is reviewed in a frozen space",
        patched(altered.step("candidates.review", _through_a_freeze(_is_kindless))),
        source="ours",
    ),
    Fault(
        "r006_unfences_while_frozen",
        RULE,
        "a fence is lifted in a frozen space",
        patched(altered.step("subjects.fence", _through_a_freeze(lambda _space, request: request["action"] == "unfence"))),
        source="ours",
    ),
)
