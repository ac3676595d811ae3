"""Placement selection (protocol.md section 3, ReadSelection): who may name which placements, and what is selected.

Naming a placement that the caller does not cover rejects the whole request; ``all_authorized`` narrows silently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from conformance.oracle import authority
from conformance.oracle.state import Doc
from conformance.oracle.turn import Turn
from conformance.wire.bundle import Need


class Mode(NamedTuple):
    """What a mode names: the contexts of the request, the shared placement."""

    contexts: bool
    shared: bool


MODES = {"contexts": Mode(True, False), "shared": Mode(False, True), "contexts_and_shared": Mode(True, True)}


def names_placements(selection: Doc) -> bool:
    """Say whether a selection names its placements, so that each must be covered; ``all_authorized`` names none."""
    return selection["mode"] in MODES


def named(selection: Doc) -> list[Doc]:
    """List the placements that a selection names."""
    mode, subject = MODES[selection["mode"]], {"subject_id": selection["subject_id"]}
    contexts = [{**subject, "context_id": context_id} for context_id in selection.get("context_ids", ()) if mode.contexts]
    return [*contexts, *([subject] if mode.shared else [])]


def authorise(turn: Turn, selection: Doc, needs: Sequence[Need]) -> None:
    """Refuse a selection that names what the caller does not cover, or whose subject it covers nowhere."""
    if names_placements(selection):
        for scope in named(selection):
            authority.require(turn, scope, needs)
    elif not all(authority.holds_somewhere(turn, need, selection["subject_id"]) for need in needs):
        raise authority.refuse_name(turn)


def selects(turn: Turn, selection: Doc, needs: Iterable[Need], scope: Doc) -> bool:
    """Say whether a placement is selected: named, or for ``all_authorized`` covered by the caller."""
    if names_placements(selection):
        return is_named(selection, scope)
    return scope["subject_id"] == selection["subject_id"] and all(authority.holds(turn, need, scope) for need in needs)


def is_named(selection: Doc, scope: Doc) -> bool:
    """Say whether a selection names a placement."""
    mode = MODES[selection["mode"]]
    if scope["subject_id"] != selection["subject_id"]:
        return False
    return mode.contexts and scope["context_id"] in selection["context_ids"] if "context_id" in scope else mode.shared


def selected(turn: Turn, selection: Doc, needs: Sequence[Need], docs: Iterable[Doc], scope: Callable[[Doc], Doc]) -> list[Doc]:
    """Keep the documents whose placement is selected; each placement is judged once."""
    judged: dict[str | None, bool] = {}
    kept = []
    for doc in docs:
        placement = scope(doc)
        context_id = placement.get("context_id")
        if context_id not in judged:
            judged[context_id] = selects(turn, selection, needs, placement)
        if judged[context_id]:
            kept.append(doc)
    return kept


# -- what a generator covered, pinned


def reach(turn: Turn, subject_id: str, needs: Sequence[Need]) -> Doc:
    """Give the placements of a subject that the caller covers by each of ``needs``: contexts (None is every one) and shared."""
    contexts: set[str] | None = None
    for need in needs:
        contexts = _both(contexts, _contexts(turn, subject_id, need))
    shared = all(authority.holds(turn, need, {"subject_id": subject_id}) for need in needs)
    return {"contexts": None if contexts is None else sorted(contexts), "shared": shared}


def reaches(reach: Doc, scope: Doc) -> bool:
    """Say whether a pinned reach includes a placement."""
    if "context_id" not in scope:
        return bool(reach["shared"])
    return reach["contexts"] is None or scope["context_id"] in reach["contexts"]


def reach_over(scopes: Iterable[Doc]) -> Doc:
    """Give the reach that consists of just these placements (section 7, Transfer: those of the basis records stand in)."""
    scopes = list(scopes)
    contexts = sorted({scope["context_id"] for scope in scopes if "context_id" in scope})
    return {"contexts": contexts, "shared": any("context_id" not in scope for scope in scopes)}


def _contexts(turn: Turn, subject_id: str, need: Need) -> set[str] | None:
    reaching = [grant for grant in turn.grants if authority.covers_whole_subject(grant, need, subject_id)]
    if any("context_ids" not in grant for grant in reaching):
        return None
    return {context_id for grant in reaching for context_id in grant["context_ids"]}


def _both(left: set[str] | None, right: set[str] | None) -> set[str] | None:
    if left is None or right is None:
        return right if left is None else left
    return left & right
