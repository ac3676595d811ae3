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
    """``examples`` is the number of generated examples of a check with factor 1."""

    name: str
    examples: int


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {profile.name: profile for profile in (Profile("smoke", 2), Profile("quick", 15), Profile("full", 150))}
)


def profile_named(name: str) -> Profile:
    """Return a profile. Raises ``BadUsage``."""
    if name not in PROFILES:
        raise BadUsage(f"there is no profile {name!r}: the profiles are {', '.join(PROFILES)}.")
    return PROFILES[name]
