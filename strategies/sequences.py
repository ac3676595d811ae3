"""Histories: short call sequences in a small vocabulary, with symbolic ids, so that they shrink and run anywhere.

A step names an operation by its stem and speaks of objects by symbols: the third record made so far, its revision plus one.
Whoever runs a history replaces the symbols by what the receipts told (``resolved``). A history is drawn so that every object
a step speaks of can have been made before it; whether the provider made it is for the runner to see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from strategies.content import contents, profile_contents
from strategies.selections import scopes


@dataclass(frozen=True, slots=True)
class Made:
    """The ``index``-th object of a type that the history has made, from 0."""

    kind: str
    index: int


@dataclass(frozen=True, slots=True)
class RevisionOf:
    """The revision of ``of`` at that time, ``off`` by so much: 0 is current, below is stale, above is ahead. None: the space."""

    of: Made | None
    off: int = 0


Symbol = Made | RevisionOf


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a history: the operation's stem, which caller makes it, and its members, symbols among them."""

    stem: str
    caller: int
    members: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cast:
    """The names that a history may use, and how many callers act in it."""

    subjects: Sequence[str] = ("a",)
    contexts: Sequence[str] = ("c",)
    callers: int = 1


Members = Callable[[Cast, Made | None, SearchStrategy[int]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Verb:
    """What a step of one operation is made of: the type it works on, the type it makes, its members (strategies are drawn)."""

    members: Members
    on: str | None = None
    makes: str | None = None


def _scope(cast: Cast) -> SearchStrategy[dict[str, Any]]:
    return st.sampled_from(cast.subjects).flatmap(lambda subject: scopes(subject, cast.contexts))


def _revision(of: Made | None, off: SearchStrategy[int]) -> SearchStrategy[RevisionOf]:
    return off.map(lambda by: RevisionOf(of, by))


def _create(cast: Cast, _on: Made | None, _off: SearchStrategy[int]) -> dict[str, Any]:
    return {"kind": "note", "content": contents(), "scope": _scope(cast)}


def _capture(cast: Cast, _on: Made | None, _off: SearchStrategy[int]) -> dict[str, Any]:
    return {"kind": "note", "content": contents(), "scope": _scope(cast)}


def _update(_cast: Cast, on: Made | None, off: SearchStrategy[int]) -> dict[str, Any]:
    return {"record_id": on, "content": contents(), "expected_revision": _revision(on, off)}


def _delete(_cast: Cast, on: Made | None, off: SearchStrategy[int]) -> dict[str, Any]:
    return {"record_id": on, "expected_revision": _revision(on, off)}


def _promote(cast: Cast, on: Made | None, off: SearchStrategy[int]) -> dict[str, Any]:
    return {"record_id": on, "to_scope": _scope(cast), "expected_revision": _revision(on, off)}


def _dismiss(_cast: Cast, on: Made | None, off: SearchStrategy[int]) -> dict[str, Any]:
    return {"candidate_id": on, "expected_revision": _revision(on, off)}


def _review(_cast: Cast, on: Made | None, off: SearchStrategy[int]) -> dict[str, Any]:
    decision = st.one_of(
        st.just({"action": "promote"}),
        contents().map(lambda content: {"action": "promote", "content_override": content}),
        st.lists(contents().map(lambda content: {"content": content}), min_size=2, max_size=2).map(
            lambda fragments: {"action": "fragment", "fragments": fragments}
        ),
        st.just({"action": "discard"}),
    )
    return {"candidate_id": on, "decision": decision, "expected_revision": _revision(on, off)}


def _ensure(cast: Cast, _on: Made | None, _off: SearchStrategy[int]) -> dict[str, Any]:
    return {"subject_id": st.sampled_from(cast.subjects)}


def _fence_context(cast: Cast, _on: Made | None, _off: SearchStrategy[int]) -> dict[str, Any]:
    target = st.sampled_from(cast.contexts).map(lambda context: {"type": "context", "context_id": context})
    return {"target": target, "action": st.sampled_from(("fence", "unfence"))}


def _space(_cast: Cast, _on: Made | None, off: SearchStrategy[int]) -> dict[str, Any]:
    return {"expected_revision": _revision(None, off)}


def _profile(cast: Cast, _on: Made | None, _off: SearchStrategy[int]) -> dict[str, Any]:
    expected = st.one_of(st.none(), st.integers(1, 3))
    return {
        "subject_id": st.sampled_from(cast.subjects),
        "kind": "personality",
        "content": profile_contents(),
        "expected_revision": expected,
    }


VERBS: Mapping[str, Verb] = {
    "records.create": Verb(_create, makes="record"),
    "records.update": Verb(_update, on="record"),
    "records.delete": Verb(_delete, on="record"),
    "records.promote": Verb(_promote, on="record"),
    "capture": Verb(_capture, makes="candidate"),
    "candidates.review": Verb(_review, on="candidate"),
    "candidates.dismiss": Verb(_dismiss, on="candidate"),
    "subjects.ensure": Verb(_ensure),
    "subjects.fence": Verb(_fence_context),
    "profile.update": Verb(_profile),
    "spaces.freeze": Verb(_space),
    "spaces.unfreeze": Verb(_space),
}
"""Operation stem -> what its steps are made of. All of them are mutations; reads are the runner's to add."""

CURRENT: SearchStrategy[int] = st.just(0)
"""Revisions that are always current."""


@st.composite
def histories(
    draw: DrawFn,
    cast: Cast | None = None,
    *,
    verbs: Sequence[str] = tuple(VERBS),
    off: SearchStrategy[int] = CURRENT,
    max_size: int = 10,
) -> tuple[Step, ...]:
    """Return histories of up to ``max_size`` steps over ``verbs``; shrinks to none.

    ``off`` says how far a drawn revision may be from the current one, for instance ``st.sampled_from((0, -1, 1))``.
    """
    named = cast or Cast()
    made: dict[str, int] = {}
    steps: list[Step] = []
    for _ in range(draw(st.integers(0, max_size))):
        possible = [stem for stem in verbs if (on := VERBS[stem].on) is None or made.get(on)]
        if not possible:
            break
        stem = draw(st.sampled_from(possible))
        steps.append(draw(_step(stem, named, made, off)))
        if (kind := VERBS[stem].makes) is not None:
            made[kind] = made.get(kind, 0) + 1
    return tuple(steps)


@st.composite
def _step(draw: DrawFn, stem: str, cast: Cast, made: Mapping[str, int], off: SearchStrategy[int]) -> Step:
    verb = VERBS[stem]
    on = None if verb.on is None else Made(verb.on, draw(st.integers(0, made[verb.on] - 1)))
    members = verb.members(cast, on, off)
    drawn = {name: draw(value) if isinstance(value, SearchStrategy) else value for name, value in members.items()}
    return Step(stem, draw(st.integers(0, cast.callers - 1)), drawn)


def resolved(value: Any, look_up: Callable[[Symbol], Any]) -> Any:
    """Return ``value`` with every symbol replaced by what ``look_up`` says it stands for."""
    if isinstance(value, Made | RevisionOf):
        return look_up(value)
    if isinstance(value, Mapping):
        return {name: resolved(member, look_up) for name, member in value.items()}
    return [resolved(item, look_up) for item in value] if isinstance(value, list) else value
