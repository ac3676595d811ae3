"""Capture and review."""

from __future__ import annotations

from typing import Any

from conformance.machine import draws
from conformance.machine.acts.records import UNKNOWN
from conformance.machine.stage import Stage
from conformance.oracle.state import Doc

STATES = ("pending", "promoted", "fragmented", "discarded", "dismissed")


def capture(stage: Stage) -> None:
    """Capture something."""
    space_id = stage.space_id()
    scope = draws.scope(stage)
    if stage.chance(0.7) and scope["subject_id"] not in stage.space(space_id).subjects:
        stage.by_root(space_id, "subjects.ensure", subject_id=scope["subject_id"])
    members: dict[str, Any] = {"content": draws.any_content(stage), "scope": scope}
    if stage.chance(0.6):
        members["kind"] = stage.pick(draws.RECORD_KINDS)
    actor = stage.someone(space_id)
    seen = stage.ask(actor, "capture", space_id, **members, **draws.source(stage), **draws.extensions(stage))
    if seen.error is None and stage.chance(0.4):
        stage.ask(actor, "candidates.get", space_id, candidate_id=seen.payload["receipt"]["affected"][0]["id"])


def a_candidate(stage: Stage, space_id: str, *, consumed: float = 0.25) -> Doc:
    """Pick a candidate, mostly a pending one; a made-up one where there is none."""
    found = stage.space(space_id).candidates.all()
    if not found or stage.chance(0.02):
        return {"candidate_id": UNKNOWN, "revision": 1, "state": "pending"}
    pending = [candidate for candidate in found if candidate["state"] == "pending"]
    over = [candidate for candidate in found if candidate["state"] != "pending"]
    return stage.pick(over if over and (not pending or stage.chance(consumed)) else pending)


def get(stage: Stage) -> None:
    """Get a candidate."""
    space_id = stage.space_id()
    candidate_id = a_candidate(stage, space_id, consumed=0.5)["candidate_id"]
    stage.ask(stage.someone(space_id), "candidates.get", space_id, candidate_id=candidate_id)


def list_candidates(stage: Stage) -> None:
    """List candidates along a whole chain."""
    space_id = stage.space_id()
    members: dict[str, Any] = {"selection": draws.selection(stage)}
    if stage.chance(0.4):
        members["states"] = stage.some(STATES, 2)
    stage.listed(stage.someone(space_id), "candidates.list", space_id, draws.limits(stage), **members)


def dismiss(stage: Stage) -> None:
    """Dismiss a candidate."""
    _decide(stage, "candidates.dismiss")


def review(stage: Stage) -> None:
    """Decide on a candidate in one of the three ways."""
    decision = stage.pick((_promote, _promote, _fragment, _discard))(stage)
    _decide(stage, "candidates.review", decision=decision, **draws.extensions(stage))


def _decide(stage: Stage, stem: str, **members: Any) -> None:
    space_id = stage.space_id()
    candidate = a_candidate(stage, space_id)
    expected = draws.revision(stage, candidate["revision"])
    actor = stage.someone(space_id)
    seen = stage.ask(actor, stem, space_id, candidate_id=candidate["candidate_id"], expected_revision=expected, **members)
    root = stage.roots[space_id]
    stage.ask(root, "candidates.get", space_id, candidate_id=candidate["candidate_id"])
    if seen.error is None:
        for entry in seen.payload["receipt"]["affected"][1:]:
            reader = actor if stage.chance(0.5) else root
            stage.ask(reader, "records.get", space_id, record_id=entry["id"])


def _promote(stage: Stage) -> Doc:
    decision: dict[str, Any] = {"action": "promote"}
    if stage.chance(0.6):
        decision["kind"] = stage.pick(draws.RECORD_KINDS)
    if stage.chance(0.4):
        decision["content_override"] = draws.any_content(stage)
    return decision


def _fragment(stage: Stage) -> Doc:
    count = stage.random.randint(2, 3)
    most = stage.model.described["limits"]["max_fragments"]
    count = most + 1 if stage.chance(0.12) else min(count, most)
    fragments = [{"content": draws.content(stage), **_kind(stage)} for _ in range(count)]
    if stage.chance(0.15):
        fragments[-1] = {**fragments[-1], "content": draws.odd_content(stage)}
    return {"action": "fragment", "fragments": fragments}


def _kind(stage: Stage) -> dict[str, Any]:
    return {"kind": stage.pick(draws.RECORD_KINDS)} if stage.chance(0.7) else {}


def _discard(_stage: Stage) -> Doc:
    return {"action": "discard"}
