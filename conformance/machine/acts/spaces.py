"""Spaces, subjects and their fences; describe."""

from __future__ import annotations

from conformance.machine import draws
from conformance.machine.stage import Stage
from conformance.oracle import fences


def describe(stage: Stage) -> None:
    """Ask what is served."""
    space_id = stage.space_id()
    stage.ask(stage.someone(space_id), "describe", space_id)


def list_spaces(stage: Stage) -> None:
    """List the spaces of somebody."""
    space_id = stage.space_id()
    stage.listed(stage.someone(space_id), "spaces.list", space_id, draws.limits(stage))


def freeze(stage: Stage) -> None:
    """Freeze a space, or unfreeze it: mostly what its state allows."""
    space_id = stage.space_id()
    frozen = fences.is_frozen(stage.space(space_id))
    _switch(stage, space_id, frozen if stage.chance(0.85) else not frozen)


def unfreeze(stage: Stage) -> None:
    """Unfreeze what is frozen."""
    for space_id in stage.space_ids:
        if fences.is_frozen(stage.space(space_id)):
            _switch(stage, space_id, True)


def _switch(stage: Stage, space_id: str, frozen: bool) -> None:
    actual = stage.space(space_id).facts["revision"]
    stem = "spaces.unfreeze" if frozen else "spaces.freeze"
    stage.ask(stage.someone(space_id), stem, space_id, expected_revision=draws.revision(stage, actual))


def ensure(stage: Stage) -> None:
    """Ensure a subject, with or without a kind."""
    space_id = stage.space_id()
    kind = {"kind": stage.pick(draws.SUBJECT_KINDS)} if stage.chance(0.3) else {}
    members = {"subject_id": draws.subject(stage), **kind, **draws.extensions(stage)}
    stage.ask(stage.someone(space_id), "subjects.ensure", space_id, **members)


def get_subject(stage: Stage) -> None:
    """Get a subject."""
    space_id = stage.space_id()
    stage.ask(stage.someone(space_id), "subjects.get", space_id, subject_id=draws.subject(stage))


def fence_subject(stage: Stage) -> None:
    """Fence, unfence or (rarely) archive a subject."""
    space_id = stage.space_id()
    subject_id = draws.subject(stage)
    found = stage.space(space_id).subjects.get(subject_id)
    state = "" if found is None else found["state"]
    usual = "unfence" if state == fences.FENCED else "fence"
    action = usual if stage.chance(0.75) else stage.pick(("fence", "unfence", "archive"))
    actual = None if found is None else found["revision"]
    stage.ask(
        stage.someone(space_id), "subjects.fence", space_id, target={"type": "subject", "subject_id": subject_id}, action=action,
        expected_revision=draws.revision(stage, actual),
    )  # fmt: skip


def unfence(stage: Stage) -> None:
    """Unfence all subjects and contexts that are fenced, so that writes go on."""
    for space_id in stage.space_ids:
        root = stage.roots[space_id]
        for subject in stage.space(space_id).subjects.all():
            if subject["state"] == fences.FENCED:
                target = {"type": "subject", "subject_id": subject["subject_id"]}
                revision = subject["revision"]
                stage.ask(root, "subjects.fence", space_id, target=target, action="unfence", expected_revision=revision)
        for context_id in stage.space(space_id).facts["fenced_context_ids"]:
            target = {"type": "context", "context_id": context_id}
            stage.ask(root, "subjects.fence", space_id, target=target, action="unfence")


def fence_context(stage: Stage) -> None:
    """Fence or unfence a context: mostly what its state allows."""
    space_id = stage.space_id()
    context_id = draws.context(stage)
    fenced = fences.is_fenced_context(stage.space(space_id), context_id)
    action = "unfence" if fenced == stage.chance(0.85) else "fence"
    target = {"type": "context", "context_id": context_id}
    stage.ask(stage.someone(space_id), "subjects.fence", space_id, target=target, action=action)
