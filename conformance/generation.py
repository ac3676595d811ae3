"""What hypothesis draws from besides its seed: nothing, in every process of a run.

Hypothesis draws, now and then, a constant that it found in the source of modules that are imported and not installed: our own in
a checkout, the script that was started, the provider under test where it is an object. Another number of workers, another
selection of rules, an edited comment or the wheel instead of the checkout would give another pool, and the same seed would send
other requests. Hypothesis looks at each module once; so it is made to look while these have no file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import hypothesis
from hypothesis import strategies as st

from conformance.profiles import Profile
from conformance.settings import settings_of

INSTALLED = "/site-packages/"
_DRAWS, _EXAMPLES = 60, 4
"""A draw looks for constants with a probability of 5 %; so many make sure that one does (their seed is fixed). The first example
is the smallest, for which nothing is drawn."""


def settle(known: int = -1) -> int:
    """See that no constant of a module that is imported by now is drawn; return how many modules these are.

    ``known`` is what the last call returned: where nothing was imported since, nothing is done.
    """
    if len(sys.modules) != known:
        with _without_files():
            _look()
    return len(sys.modules)


@hypothesis.seed(0)
@settings_of(Profile("few", _EXAMPLES))
@hypothesis.given(st.lists(st.integers(), min_size=_DRAWS, max_size=_DRAWS))
def _look(numbers: list[int]) -> None:
    """Draw, which makes hypothesis look at what is imported."""


@contextmanager
def _without_files() -> Iterator[None]:
    """Take the modules that are not installed their ``__file__`` away for a moment."""
    files = {name: module.__file__ for name, module in list(sys.modules.items()) if _is_open(module)}
    modules = [(sys.modules[name], file) for name, file in files.items()]
    for module, _ in modules:
        module.__file__ = None
    try:
        yield
    finally:
        for module, file in modules:
            module.__file__ = file


def _is_open(module: object) -> bool:
    """Say whether hypothesis would read the source of an entry of ``sys.modules``."""
    file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
    return isinstance(file, str) and INSTALLED not in file
