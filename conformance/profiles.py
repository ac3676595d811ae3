"""How much a run tries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from conformance.errors import BadUsage

DEFAULT_PROFILE = "quick"
DEFAULT_SEED = 0


@dataclass(frozen=True, slots=True)
class Profile:
    """How much is tried; None means all.

    ``examples`` is how many examples a check with factor 1 generates, ``rows`` the most rows of a table, ``checks`` how many
    checks of each rule run, the first parameter of each.
    """

    name: str
    examples: int
    rows: int | None = None
    checks: int | None = None

    def scaled(self, factor: float) -> int:
        """Return how many examples a property with this factor tries: at least one."""
        return max(1, round(self.examples * factor))


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {profile.name: profile for profile in (Profile("smoke", 2, rows=3, checks=1), Profile("quick", 15), Profile("full", 150))}
)


def profile_named(name: str) -> Profile:
    """Return a profile. Raises ``BadUsage``."""
    if name not in PROFILES:
        raise BadUsage(f"there is no profile {name!r}: the profiles are {', '.join(PROFILES)}.")
    return PROFILES[name]
