"""What a check is generated with: hypothesis' settings, and its seed.

Same seed, same version, same schemas and same answers give the same requests, whatever the order of the checks or the number of
workers: what is random in a check comes from the run's seed and the check's id alone.
"""

from __future__ import annotations

import hashlib

import hypothesis
from hypothesis import HealthCheck, Phase

from conformance.profiles import Profile


def settings_of(profile: Profile, factor: float = 1.0, *, shrink: bool = True) -> hypothesis.settings:
    """Return hypothesis' settings for a check whose number of examples is scaled by ``factor`` (at least one is tried).

    ``shrink`` False stops at the first failing example as it was found.
    """
    phases = (Phase.explicit, Phase.generate, Phase.shrink) if shrink else (Phase.explicit, Phase.generate)
    return hypothesis.settings(
        max_examples=profile.scaled(factor),
        phases=phases,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


def check_seed(seed: int, check_id: str) -> int:
    """Return the seed of one check."""
    return int.from_bytes(hashlib.sha256(f"{seed}\0{check_id}".encode()).digest()[:8], "big")
