"""What grants authorise, exactly: sets of (capability, subject, placement, instant), apart from the oracle's own reckoning.

Over the names that occur and one that does not, over the instants at which a grant ends and one beyond, a grant is a finite set
of points. Two grants authorise the same exactly when their points are equal, whatever other names and instants there are.
``agree`` holds the oracle against it at every issuance; ``require_closed`` is the closure check: no sequence of issuances has
reached a point that the root of its chain lacked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from conformance.errors import SuiteFault
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.model import Model
from conformance.oracle import issuance
from conformance.oracle.state import Doc
from conformance.wire.bundle import instant
from strategies.grants import DEGREES, GrantShape
from strategies.grants import issuance as answered

NOBODY = "\0any other"
"""Stands for every name that no grant lists."""

ISSUE = "grants_issue"
OP = "memory.grants.grant"


class Point(NamedTuple):
    """One thing that a grant may authorise.

    ``placement`` is a context, or a degree of shared access behind a mark; ``instant`` an index into the ends of the grants at
    hand: the time just before that end, the last one beyond all.
    """

    capability: str
    subject: str
    placement: str
    instant: int


Members = tuple[str, str, str, int]
"""The members of a ``Point``: there are many of them, and a plain tuple is made faster."""


class Universe:
    """The names and ends that some grants mention: what there is to tell them apart."""

    def __init__(self, grants: Iterable[Doc]) -> None:
        grants = list(grants)
        self.subjects = _names(grants, "subject_ids")
        self.contexts = _names(grants, "context_ids")
        self.ends = sorted({instant(grant["expires_at"]) for grant in grants if "expires_at" in grant})

    def points(self, grant: Doc) -> frozenset[Members]:
        """Give all that a grant authorises while it is active."""
        subjects = grant.get("subject_ids", self.subjects)
        contexts: Sequence[str] = grant.get("context_ids", self.contexts)
        degrees = DEGREES[1 : DEGREES.index(grant["shared_access"]) + 1]
        placements = [*contexts, *(f"\0shared {degree}" for degree in degrees)]
        return frozenset(product(grant["capabilities"], subjects, placements, self._instants(grant)))

    def _instants(self, grant: Doc) -> Iterator[int]:
        if "expires_at" not in grant:
            return iter(range(len(self.ends) + 1))
        return iter(range(self.ends.index(instant(grant["expires_at"])) + 1))


def _names(grants: Sequence[Doc], member: str) -> list[str]:
    return [NOBODY, *sorted({name for grant in grants for name in grant.get(member, ())})]


def shape_of(grant: Doc) -> GrantShape:
    """Give what a grant or a request for one authorises, without who holds it."""
    subjects, contexts = grant.get("subject_ids"), grant.get("context_ids")
    return GrantShape(
        tuple(grant["capabilities"]),
        None if subjects is None else tuple(subjects),
        None if contexts is None else tuple(contexts),
        grant["shared_access"],
        grant.get("expires_at"),
    )


def agree(model: Model, issuer: str, space_id: str, shape: Doc) -> None:
    """Hold the oracle's judgement of an issuance against the exact one. Raises ``SuiteFault`` where they differ: we are wrong."""
    space = model.space(space_id)
    turn = model.turn(issuer, OP, space)
    own = issuance.issuing(turn)
    exact = answered(shape_of(shape), [shape_of(grant) for grant in own])
    one, together = bool(issuance.covering(turn, own, shape)), issuance.within_together(own, shape)
    said = "accept" if one else "either" if together and own else "refuse"
    universe = Universe([*own, shape])
    covered = set[Members]().union(*(universe.points(grant) for grant in own))
    if said != exact or (exact != "refuse") != (universe.points(shape) <= covered and bool(own)):
        raise SuiteFault(f"{OP}: the model says {said}, exact coverage {exact}, for {dict(shape)} under {own}")


def require_closed(grants: Sequence[Doc], root: str) -> None:
    """Check that what anybody was granted lies within what the root of all chains has. Raises ``Disagreement`` otherwise.

    The root's own is its oldest grant, which it has from the beginning. All other grants count, the revoked too: what they once
    authorised was issued.
    """
    own = [grant for grant in grants if grant["grantee_id"] == root and grant["issuer_id"] == root]
    if not own:
        return
    first = shape_of(min(own, key=lambda grant: instant(grant["created_at"])))
    for grant in grants:
        beyond = _beyond(first, shape_of(grant))
        if beyond is not None:
            raise Disagreement(
                "R011", OP, Kind.STATE, reason="beyond the root of the chain", expected=None, seen=beyond._asdict()
            )


@lru_cache(maxsize=4096)
def _beyond(first: GrantShape, shape: GrantShape) -> Point | None:
    """Give a point of a shape that another lacks, or None; the names of these two are all that it takes to tell them apart."""
    own, other = first.members(), shape.members()
    universe = Universe([own, other])
    beyond = universe.points(other) - universe.points(own)
    return Point(*min(beyond)) if beyond else None
