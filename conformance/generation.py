"""Hypothesis without what makes it depend on its surroundings.

Hypothesis draws, now and then, a constant that it found in the source of modules that happen to be imported and not installed:
another number of workers, another selection of rules, a checkout instead of a wheel or another provider under test would give
other requests under the same seed. No setting turns that off, so this module alone reaches beneath hypothesis' public interface
and takes these constants away; its own list of nasty constants stays. ``tests/test_settings.py`` fails where a new version of
hypothesis has the attribute no more, or draws such constants by another way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis.internal.conjecture.providers import CONSTANTS_CACHE, HypothesisProvider
from hypothesis.internal.constants_ast import Constants

ATTRIBUTE = "_local_constants"


@contextmanager
def repeatable() -> Iterator[None]:
    """Draw nothing in the block that depends on what is imported: the same seed gives the same."""
    before = HypothesisProvider.__dict__[ATTRIBUTE]
    _replace(Constants())
    try:
        yield
    finally:
        _replace(before)


def _replace(constants: object) -> None:
    """Set the constants that all generators find, and forget what was put together from others."""
    setattr(HypothesisProvider, ATTRIBUTE, constants)
    CONSTANTS_CACHE.cache.clear()
