"""The proof that an edit breaks what it says: the validators' own verdicts, read against one keyword at one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.wire.bundle import Bundle, Problem, Validator
from conformance.wire.validation import pointer
from strategies.places import Place, value_at
from strategies.relaxed import accepts_without
from strategies.schema_walk import FORBIDDEN, Site

_COMBINATORS = ("oneOf", "anyOf")

_DRAGS_ALONG: Mapping[str, tuple[str, ...]] = {
    "type": ("enum", "const"),
    "pattern": ("format",),
}
"""Keyword -> the keywords beside it that no value can keep once it is broken."""


def unavoidable(site: Site) -> tuple[str, ...]:
    """Return the keywords beside ``site``'s that an edit of it breaks too, whatever it does."""
    return tuple(name for name in _DRAGS_ALONG.get(site.keyword, ()) if name in site.beside)


def cleanly_broken(bundle: Bundle, op: str, site: Site, request: Any) -> tuple[str, ...] | None:
    """Return the keywords that ``request`` breaks besides ``site``'s where these are the unavoidable ones; else None.

    The schema without the keyword takes the request: then nothing besides is broken. A ``oneOf`` or ``anyOf`` that fails
    because of a keyword in one of its branches is no other fault, so it is not listed.
    """
    if bundle.request(op).accepts(request):
        return None
    if accepts_without(bundle, op, site, request):
        return ()
    dragged = unavoidable(site)
    return dragged if dragged and accepts_without(bundle, op, site, request, dropped=dragged) else None


def also_broken(bundle: Bundle, op: str, site: Site, place: Place, request: Any) -> tuple[str, ...] | None:
    """Return the keywords that ``request`` breaks besides ``site``'s at ``place``; None where it does not break that one."""
    validator = bundle.request(op)
    if site.keyword in _COMBINATORS:
        return _around(validator.problems(request), site)
    others = _Reading(bundle, site, place).others(validator, request, (), 0)
    return None if others is None else tuple(sorted(others))


def _around(problems: Sequence[Problem], site: Site) -> tuple[str, ...] | None:
    """Read the problems of a combinator: itself, or what its branches say of the value; then list what lies outside it."""
    own = site.schema_pointer
    inside = [problem for problem in problems if problem.schema_pointer == own or problem.schema_pointer.startswith(f"{own}/")]
    return tuple(sorted(problem.keyword for problem in problems if problem not in inside)) if inside else None


@dataclass(frozen=True, slots=True)
class _Reading:
    bundle: Bundle
    site: Site
    place: Place

    def others(self, validator: Validator, value: Any, path: tuple[str, ...], depth: int) -> list[str] | None:
        """List the other problems of ``value``, which stands ``depth`` down the request and is judged under ``path``."""
        problems = validator.problems(value)
        named = next((problem for problem in problems if self._is_site(problem, path, depth)), None)
        if named is not None:
            return [problem.keyword for problem in problems if problem is not named]
        return self._in_branch(problems, value, path, depth)

    def _is_site(self, problem: Problem, path: tuple[str, ...], depth: int) -> bool:
        member = (self.site.member,) if self.site.keyword == FORBIDDEN else ()
        return (problem.keyword, problem.schema_pointer, problem.pointer) == (
            self.site.keyword,
            pointer(self.site.evaluation[len(path) :]),
            pointer((*self.place[depth:], *member)),
        )

    def _in_branch(self, problems: Sequence[Problem], value: Any, path: tuple[str, ...], depth: int) -> list[str] | None:
        """Ask the branch that was meant, where the validator says only that none took the value."""
        for step in self.site.spot.steps:
            combinator = pointer(step.path[len(path) : -1])
            owner = next((problem for problem in problems if problem.schema_pointer == combinator), None)
            if len(step.path) > len(path) and owner is not None:
                branch = self.bundle.validator(step.ref)
                inner = self.others(branch, value_at(value, self.place[depth : step.depth]), step.path, step.depth)
                rest = [problem.keyword for problem in problems if problem is not owner]
                return None if inner is None else [*rest, *inner]
        return None
