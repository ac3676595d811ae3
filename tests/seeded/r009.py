"""Faults of MEM-R009: fences with a gap, fences that stop too much, and archives that can be left."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from conformance.oracle import fences, steps, subjects
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire.vocabulary import Code
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, always, patched
from tests.seeded.scoped import during

RULE = "MEM-R009"


def _reads_too(original: Any) -> Any:
    def take(turn: Turn, space: Space, request: Doc) -> Outcome:
        if not turn.op.mutation and "selection" in request:
            fences.refuse_subject(space, request["selection"]["subject_id"])
        outcome: Outcome = original(turn, space, request)
        return outcome

    return take


def _destination_only(original: Any) -> Any:
    return lambda turn, space, *scopes: original(turn, space, *scopes[-1:])


def _source_only(original: Any) -> Any:
    return lambda turn, space, *scopes: original(turn, space, *scopes[:1])


def _not_at(*stems: str) -> Patch:
    """Forget the fences, not the freeze, in some operations."""

    def wrap(original: Any) -> Any:
        def refuse_write(turn: Turn, space: Space, *scopes: Doc) -> None:
            original(turn, space, *(() if turn.op.stem in stems else scopes))

        return refuse_write

    return Patch(fences, "refuse_write", wrap)


def _for_the_first_subject(original: Any) -> Any:
    """Refuse a fenced context for the subject that was made first alone."""

    def refuse_context(space: Space, scope: Doc) -> None:
        first = space.subjects.all()[:1]
        if not first or first[0]["subject_id"] == scope["subject_id"]:
            original(space, scope)

    return refuse_context


def _leaves_the_archive(original: Any) -> Any:
    def subject_after(subject: Doc, action: str) -> str:
        if subject["state"] == fences.ARCHIVED and action == "unfence":
            return fences.ACTIVE
        after: str = original(subject, action)
        return after

    return subject_after


def _sources_too(original: Any) -> Any:
    def create(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        if fences.is_fenced_context(space, request.get("source_context_id", "")):
            raise Refusal(Code.CONTEXT_FENCED)
        return outcome

    return create


def _shared_too(original: Any) -> Any:
    """Take the shared placement for fenced as soon as any context is."""

    def refuse_context(space: Space, scope: Doc) -> None:
        original(space, scope)
        if "context_id" not in scope and space.facts["fenced_context_ids"]:
            raise Refusal(Code.CONTEXT_FENCED)

    return refuse_context


def _generation_too(original: Any) -> Any:
    def generate(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        for context_id in request["selection"].get("context_ids", ()):
            fences.refuse_context(space, {"context_id": context_id})
        return outcome

    return generate


def _folded(_original: Any) -> Any:
    return lambda space, context_id: context_id.casefold() in map(str.casefold, space.facts["fenced_context_ids"])


def _fenced_again(original: Any) -> Any:
    """Fence what is fenced once more, and unfence the active."""

    def subject_after(subject: Doc, action: str) -> str:
        if subject["state"] == fences.ARCHIVED:
            after: str = original(subject, action)
            return after
        return subjects.AFTER[action]

    return subject_after


def _moves_the_space(_turn: Turn, before: Space, after: Space) -> Space:
    return altered.facts(after, revision=before.facts["revision"] + 1)


def _spends_the_fence(turn: Turn, before: Space, after: Space) -> Space:
    """Let unfencing one context open all of them."""
    del turn
    gone = len(after.facts["fenced_context_ids"]) < len(before.facts["fenced_context_ids"])
    return altered.facts(after, fenced_context_ids=[]) if gone else after


def _kind_alone(original: Any) -> Any:
    """Look at the fence of a context only where content is written."""
    unfenced = Patch(fences, "refuse_context", always(None))

    def update(turn: Turn, space: Space, request: Doc) -> Outcome:
        with ExitStack() as stack:
            if "content" not in request:
                stack.enter_context(unfenced.applied())
            outcome: Outcome = original(turn, space, request)
        return outcome

    return update


def _of_the_caller(turn: Turn, space: Space, members: Doc) -> Doc:
    """List the fenced contexts of each space that the caller's own grants name."""
    del space
    listed = []
    for told in members["spaces"]:
        grants = turn.state.spaces[told["space_id"]].grants.of(turn.caller)
        fenced = [one for one in told["fenced_context_ids"] if any(one in grant.get("context_ids", [one]) for grant in grants)]
        listed.append({**told, "fenced_context_ids": fenced})
    return {**members, "spaces": listed}


def _opens_look_alikes(original: Any) -> Any:
    """Unfence a context by its name without outer spaces."""

    def contexts_after(space: Space, context_id: str, action: str) -> list[str]:
        after: list[str] = original(space, context_id, action)
        return after if action == "fence" else [one for one in after if one.strip() != context_id.strip()]

    return contexts_after


def _one_mode_too(original: Any) -> Any:
    """Stop generation over a fenced context that is named beside the shared placement."""

    def generate(turn: Turn, space: Space, request: Doc) -> Outcome:
        wanted = request["selection"]
        if wanted["mode"] == "contexts_and_shared" and set(wanted["context_ids"]) & set(space.facts["fenced_context_ids"]):
            raise Refusal(Code.CONTEXT_FENCED)
        outcome: Outcome = original(turn, space, request)
        return outcome

    return generate


def _among_the_first(_original: Any) -> Any:
    return lambda space, context_id: context_id in space.facts["fenced_context_ids"][:50]


def _of_a_fenced_source(_turn: Turn, space: Space, request: Doc) -> None:
    found = space.records.get(request["record_id"]) or {"provenance": {}}
    if found["provenance"].get("source_context_id") in space.facts["fenced_context_ids"]:
        raise Refusal(Code.CONTEXT_FENCED)


FAULTS = (
    Fault("r009_fence_blocks_reads", RULE, "a fenced subject cannot be read by selection",
          patched(Patch(steps, "take", _reads_too))),
    Fault("r009_out_of_a_fenced_context", RULE, "a record can be moved out of a fenced context",
          patched(during("records.promote", Patch(fences, "refuse_write", _destination_only)))),
    Fault("r009_unfences_the_archived", RULE, "an archived subject can be unfenced",
          patched(Patch(subjects, "subject_after", _leaves_the_archive))),
    Fault("r009_context_for_one_subject", RULE, "a context is fenced for the first subject alone",
          patched(Patch(fences, "refuse_context", _for_the_first_subject))),
    Fault("r009_into_a_fenced_context", RULE, "a record can be moved into a fenced context",
          patched(during("records.promote", Patch(fences, "refuse_write", _source_only))), source="ours"),
    Fault("r009_dismissal_is_forgotten", RULE, "a candidate behind a fence can be dismissed",
          patched(_not_at("candidates.dismiss")), source="ours"),
    Fault("r009_deletion_is_no_write", RULE, "a record behind a fence can be deleted", patched(_not_at("records.delete")),
          source="ours"),
    Fault("r009_profiles_are_forgotten", RULE, "the profile of a fenced subject can be written",
          patched(during("profile.update", Patch(fences, "refuse_subject", always(None)))), source="ours"),
    Fault("r009_generation_is_forgotten", RULE, "a reflection is generated for a fenced subject",
          patched(during("reflections.generate", Patch(fences, "refuse_subject", always(None)))), source="ours"),
    Fault("r009_fence_stops_generation_over_it", RULE, "a fenced context stops generation over it",
          patched(altered.step("reflections.generate", _generation_too)), source="ours"),
    Fault("r009_source_context_meets_the_fence", RULE, "a fenced context cannot be named as a record's source",
          patched(altered.step("records.create", _sources_too)), source="ours"),
    Fault("r009_shared_placement_is_fenced_too", RULE, "a fenced context stops writes to shared placements",
          patched(Patch(fences, "refuse_context", _shared_too)), source="ours"),
    Fault("r009_fences_fold_case", RULE, "a fenced context stops those whose names differ in case alone",
          patched(Patch(fences, "is_fenced_context", _folded)), source="ours"),
    Fault("r009_kind_alone_passes_a_fenced_context", RULE, "an update of the kind alone goes through in a fenced context",
          patched(altered.step("records.update", _kind_alone)), source="ours"),
    Fault("r009_fences_twice", RULE, "a fenced subject is fenced and an active one unfenced once more",
          patched(Patch(subjects, "subject_after", _fenced_again)), source="ours"),
    Fault("r009_fence_moves_the_space", RULE, "fencing a subject adds a revision to the space",
          patched(altered.effect("subjects.fence", _moves_the_space)), source="ours"),
    Fault("r009_one_unfence_opens_all", RULE, "unfencing one context unfences all",
          patched(altered.effect("subjects.fence", _spends_the_fence)), source="ours"),
    Fault("r009_unfences_look_alikes", RULE, "unfencing a context unfences those whose names differ in outer spaces alone",
          patched(Patch(subjects, "contexts_after", _opens_look_alikes)), source="ours"),
    Fault("r009_stops_generation_in_one_mode", RULE, "a fenced context stops generation over it and the shared placement",
          patched(altered.step("reflections.generate", _one_mode_too)), source="ours"),
    Fault("r009_fences_told_by_grant", RULE, "a caller is told of the fenced contexts that its grants name alone",
          patched(altered.answer("spaces.list", _of_the_caller)), source="ours"),
    Fault("r009_first_fences_only", RULE, "only the first fifty fenced contexts are fenced",
          patched(Patch(fences, "is_fenced_context", _among_the_first)), source="ours"),
    Fault("r009_deletion_meets_the_source", RULE, "a record that came from a fenced context cannot be deleted",
          patched(altered.step("records.delete", altered.first(_of_a_fenced_source))), source="ours"),
)  # fmt: skip
"""The faults that this rule must catch."""
