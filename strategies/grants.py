"""Grants as shapes: what one covers, what lies within another, and the shapes one step narrower or wider (protocol.md section 5).

``covers`` and ``within`` are the section's sentences as pure functions. A grant is a box of four dimensions and an instant:
capabilities x subjects x placements (contexts, and the shared one by degree) until it expires; an absent list means everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.wire.bundle import instant
from strategies.identifiers import LOOK_ALIKES
from strategies.timestamps import just_after, shifted
from strategies.vocabulary import capabilities as all_capabilities

Access = Literal["", "read", "write"]
Dimension = Literal["capabilities", "subjects", "contexts", "shared_access", "expiry", "absent_subjects", "absent_contexts"]

DEGREES: tuple[str, ...] = ("none", "read", "write")
"""Shared access, lowest first."""

_FAR = "9998-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class GrantShape:
    """What a grant authorises, without who holds it: ``None`` for a list means that the member is absent (everything)."""

    capabilities: tuple[str, ...]
    subject_ids: tuple[str, ...] | None = None
    context_ids: tuple[str, ...] | None = None
    shared_access: str = "none"
    expires_at: str | None = None

    def members(self) -> dict[str, Any]:
        """Return the request members of ``grants.grant`` that say this shape; absent ones are left out."""
        given: dict[str, Any] = {"capabilities": list(self.capabilities), "shared_access": self.shared_access}
        if self.subject_ids is not None:
            given["subject_ids"] = list(self.subject_ids)
        if self.context_ids is not None:
            given["context_ids"] = list(self.context_ids)
        if self.expires_at is not None:
            given["expires_at"] = self.expires_at
        return given


# The sentences of section 5 ----------------------------------------------------------------------------------------------


def _lists(listed: tuple[str, ...] | None, name: str) -> bool:
    return listed is None or name in listed


def unexpired(shape: GrantShape, at: str | None) -> bool:
    """Tell whether the shape authorises anything at the instant ``at``: at or after ``expires_at`` it does not."""
    return at is None or shape.expires_at is None or instant(at) < instant(shape.expires_at)


def covers(
    shape: GrantShape,
    capability: str,
    subject: str | None,
    placement: str | None,
    *,
    access: Access,
    at: str | None = None,
) -> bool:
    """Tell whether an active grant of this shape covers (capability, subject, placement), at the instant ``at`` if given.

    ``placement`` is a context, or None for the shared placement, which then takes a degree of at least ``access``. An empty
    ``access`` means that no placement matters: with a subject a subject-level need, without one a space-level need, which
    takes a grant that names neither subjects nor contexts.
    """
    if capability not in shape.capabilities or not unexpired(shape, at):
        return False
    if subject is None:
        return shape.subject_ids is None and shape.context_ids is None
    return _lists(shape.subject_ids, subject) and _covers_placement(shape, placement, access)


def _covers_placement(shape: GrantShape, placement: str | None, access: Access) -> bool:
    if not access:
        return True
    if placement is not None:
        return _lists(shape.context_ids, placement)
    return DEGREES.index(shape.shared_access) >= DEGREES.index(access)


def _subset(child: tuple[str, ...] | None, parent: tuple[str, ...] | None) -> bool:
    return parent is None or (child is not None and set(child) <= set(parent))


def _not_later(child: str | None, parent: str | None) -> bool:
    return parent is None or (child is not None and instant(child) <= instant(parent))


def within(child: GrantShape, parent: GrantShape) -> bool:
    """Tell whether ``child`` is covered by ``parent`` alone in every dimension, so that a provider MUST accept the issuance.

    Every listed capability counts with every listed placement and with the shared access, whether or not it could take
    effect there. Whether the parent lists ``grants_issue`` and is effective is the caller's to know.
    """
    return (
        set(child.capabilities) <= set(parent.capabilities)
        and _subset(child.subject_ids, parent.subject_ids)
        and _subset(child.context_ids, parent.context_ids)
        and DEGREES.index(child.shared_access) <= DEGREES.index(parent.shared_access)
        and _not_later(child.expires_at, parent.expires_at)
    )


_UNNAMED = object()
"""Stands for every name that no shape at hand lists."""


def _points(child: GrantShape) -> Iterator[tuple[str, object, object]]:
    """List what ``child`` authorises as (capability, subject, placement); a degree of shared access is ``("shared", degree)``.

    An absent list stands for all names: for the unnamed one, and ``uncovered`` adds those that an issuer names.
    """
    subjects: Sequence[object] = (_UNNAMED,) if child.subject_ids is None else child.subject_ids
    contexts: Sequence[object] = (_UNNAMED,) if child.context_ids is None else child.context_ids
    shared = [("shared", degree) for degree in DEGREES[1 : DEGREES.index(child.shared_access) + 1]]
    return product(child.capabilities, subjects, (*contexts, *shared))


def _covers_point(issuer: GrantShape, capability: str, subject: object, placement: object) -> bool:
    if capability not in issuer.capabilities or not _covers_name(issuer.subject_ids, subject):
        return False
    if isinstance(placement, tuple):
        return DEGREES.index(issuer.shared_access) >= DEGREES.index(placement[1])
    return _covers_name(issuer.context_ids, placement)


def _covers_name(listed: tuple[str, ...] | None, name: object) -> bool:
    return listed is None or name in listed


Answer = Literal["accept", "refuse", "either"]


def issuance(child: GrantShape, issuers: Sequence[GrantShape]) -> Answer:
    """Say how a provider must answer the issuance of ``child`` by the holder of these effective issuing grants.

    ``accept``: one of them covers it in every dimension. ``refuse``: some (capability, subject, placement, instant) is covered
    by none of them. ``either``: covered only point by point by several, which section 5 leaves to the provider.
    An unnamed subject or context is covered by absent lists alone, so the names that only an issuer lists need no look of
    their own. The last instant of the child is the hardest, since no grant ends later than it began to cover.
    """
    if any(within(child, issuer) for issuer in issuers):
        return "accept"
    lasting = [issuer for issuer in issuers if _not_later(child.expires_at, issuer.expires_at)]
    pointwise = all(any(_covers_point(issuer, *point) for issuer in lasting) for point in _points(child))
    return "either" if lasting and pointwise else "refuse"


# Strategies --------------------------------------------------------------------------------------------------------------


def _some(pool: Sequence[str]) -> SearchStrategy[tuple[str, ...] | None]:
    """Return None (absent) or a non-empty set of the pool, in any order."""
    return st.none() | _set_of(pool)


def _set_of(pool: Sequence[str]) -> SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(pool), min_size=1, max_size=min(len(pool), 4), unique=True).map(tuple)


def grant_shapes(
    subjects: Sequence[str],
    contexts: Sequence[str],
    *,
    capabilities: Sequence[str] | None = None,
    expiries: Sequence[str] = (),
) -> SearchStrategy[GrantShape]:
    """Return grant shapes over the given names; shrinks to one capability on everything, without shared access or expiry."""
    return st.builds(
        GrantShape,
        capabilities=_set_of(capabilities or all_capabilities()),
        subject_ids=_some(subjects) if subjects else st.none(),
        context_ids=_some(contexts) if contexts else st.none(),
        shared_access=st.sampled_from(DEGREES),
        expires_at=st.none() | st.sampled_from(expiries) if expiries else st.none(),
    )


Options = Mapping[Dimension, SearchStrategy[GrantShape]]


def _fewer(listed: Sequence[str]) -> SearchStrategy[tuple[str, ...]]:
    """Return non-empty proper subsets, in the order of ``listed``."""
    return st.integers(0, len(listed) - 1).map(lambda gone: tuple(name for index, name in enumerate(listed) if index != gone))


def _narrower(shape: GrantShape, subjects: Sequence[str], contexts: Sequence[str]) -> Options:
    """Give, for every dimension that can be narrowed, the shapes narrower in it alone."""
    found: dict[Dimension, SearchStrategy[GrantShape]] = {}
    if len(shape.capabilities) > 1:
        found["capabilities"] = _fewer(shape.capabilities).map(lambda kept: replace(shape, capabilities=kept))
    if shape.subject_ids is None and subjects:
        found["absent_subjects"] = _set_of(subjects).map(lambda names: replace(shape, subject_ids=names))
    elif shape.subject_ids is not None and len(shape.subject_ids) > 1:
        found["subjects"] = _fewer(shape.subject_ids).map(lambda names: replace(shape, subject_ids=names))
    if shape.context_ids is None and contexts:
        found["absent_contexts"] = _set_of(contexts).map(lambda names: replace(shape, context_ids=names))
    elif shape.context_ids is not None and len(shape.context_ids) > 1:
        found["contexts"] = _fewer(shape.context_ids).map(lambda names: replace(shape, context_ids=names))
    lower = DEGREES[: DEGREES.index(shape.shared_access)]
    if lower:
        found["shared_access"] = st.sampled_from(lower).map(lambda degree: replace(shape, shared_access=degree))
    found["expiry"] = st.just(replace(shape, expires_at=_FAR if shape.expires_at is None else shifted(shape.expires_at, -1)))
    return found


def narrowings(
    shape: GrantShape, *, subjects: Sequence[str] = ("a", "A"), contexts: Sequence[str] = ("a", "A")
) -> SearchStrategy[tuple[Dimension, GrantShape]]:
    """Return (dimension, shape): narrower than ``shape`` in exactly that dimension, so ``within`` it.

    ``subjects`` and ``contexts`` are the names to narrow an absent list to. An expiry moves one second earlier.
    """
    found = _narrower(shape, subjects, contexts)
    return st.one_of([st.tuples(st.just(name), strategy) for name, strategy in found.items()])


def _unlisted(listed: Sequence[str], pool: Sequence[str]) -> list[str]:
    """Give names that ``listed`` lacks: of the pool, look-alikes of listed ones, or a fresh one."""
    alike = [name for family in LOOK_ALIKES if set(family) & set(listed) for name in family]
    return [name for name in dict.fromkeys((*pool, *alike, "zz", "zzz")) if name not in listed]


def _more(listed: tuple[str, ...], pool: Sequence[str]) -> SearchStrategy[tuple[str, ...]]:
    return st.sampled_from(_unlisted(listed, pool)).map(lambda name: (*listed, name))


def _wider(shape: GrantShape, subjects: Sequence[str], contexts: Sequence[str], capabilities: Sequence[str]) -> Options:
    """Give, for every dimension that can be widened, the shapes wider in it alone."""
    found: dict[Dimension, SearchStrategy[GrantShape]] = {}
    unlisted = [name for name in capabilities if name not in shape.capabilities]
    if unlisted:
        added = st.sampled_from(unlisted).map(lambda name: (*shape.capabilities, name))
        found["capabilities"] = added.map(lambda names: replace(shape, capabilities=names))
    if shape.subject_ids is not None:
        found["subjects"] = _more(shape.subject_ids, subjects).map(lambda names: replace(shape, subject_ids=names))
        found["absent_subjects"] = st.just(replace(shape, subject_ids=None))
    if shape.context_ids is not None:
        found["contexts"] = _more(shape.context_ids, contexts).map(lambda names: replace(shape, context_ids=names))
        found["absent_contexts"] = st.just(replace(shape, context_ids=None))
    higher = DEGREES[DEGREES.index(shape.shared_access) + 1 :]
    if higher:
        found["shared_access"] = st.sampled_from(higher).map(lambda degree: replace(shape, shared_access=degree))
    if shape.expires_at is not None:
        later = (just_after(shape.expires_at), shifted(shape.expires_at, 1), None)
        found["expiry"] = st.sampled_from(later).map(lambda end: replace(shape, expires_at=end))
    return found


def widenings(
    shape: GrantShape,
    *,
    subjects: Sequence[str] = (),
    contexts: Sequence[str] = (),
    capabilities: Sequence[str] | None = None,
) -> SearchStrategy[tuple[Dimension, GrantShape]]:
    """Return (dimension, shape): wider than ``shape`` in exactly that dimension, so not ``within`` it.

    ``absent_subjects`` and ``absent_contexts`` drop a list altogether. Names come from the pools and from look-alikes of
    listed ones, an expiry moves by less than a microsecond, by a second, or away. A shape of everything has no widening:
    then the strategy is empty.
    """
    found = _wider(shape, subjects, contexts, capabilities or all_capabilities())
    return st.one_of([st.tuples(st.just(name), strategy) for name, strategy in found.items()])
