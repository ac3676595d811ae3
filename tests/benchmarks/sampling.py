"""Where processor time goes: the stack is looked at a few hundred times a second, and each look is put to somebody's account.

Looking costs little and slows nobody down more than another, unlike counting each call of a function.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

EVERY = 0.002
PROVIDER, GENERATOR, ENGINE, SUITE, OTHER = "provider", "generator", "hypothesis", "suite", "start and pytest"
ACCOUNTS = (GENERATOR, ENGINE, SUITE, PROVIDER, OTHER)

_PROVIDERS = ("/conformance/oracle/", "/conformance/dispatch.py", "/tests/benchmarks/null_provider.py")
_OURS = ("/conformance/", "/invariants/", "/reports/")
_NOT_AT_WORK = ("/conformance/runner.py", "/conformance/plugin.py", "/conformance/session.py", "/conformance/generation.py")
_CHOOSING = ("/conformance/machine/acts/", "/conformance/machine/draws.py", "/conformance/machine/chains.py")
"""What the walk chooses by: it is a generator too, as long as it does not call anybody."""


class Looks:
    """How often whose turn it was."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def look(self, _signum: int, frame: FrameType | None) -> None:
        """Put a look to an account."""
        self.counts[account(list(_stack(frame)))] += 1

    def shares(self) -> dict[str, float]:
        """Give each account its part of the time."""
        total = sum(self.counts.values()) or 1
        return {name: self.counts[name] / total for name in ACCOUNTS}


@contextmanager
def sampled() -> Iterator[Looks]:
    """Look at what the main thread does while the context is open."""
    looks = Looks()
    before = signal.signal(signal.SIGPROF, looks.look)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    try:
        yield looks
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def account(stack: list[tuple[str, str]]) -> str:
    """Say on whose account a stack of (file, function) is, the innermost first.

    A provider is at work wherever it is in the stack, and so is an import; else the innermost that is ours or hypothesis' counts.
    """
    files = [file for file, _ in stack]
    if any(file.startswith("<frozen importlib") for file in files):
        return OTHER
    if any(part in file for file in files for part in _PROVIDERS):
        return PROVIDER
    engine = False
    for place, (file, function) in enumerate(stack):
        if "/strategies/" in file or ("/hypothesis/" in file and function == "draw") or (place == 0 and _is(file, _CHOOSING)):
            return GENERATOR
        if "/hypothesis/" in file:
            engine = True
        elif _is(file, _OURS) and not _is(file, _NOT_AT_WORK):
            return ENGINE if engine else SUITE
    return ENGINE if engine else OTHER


def _is(file: str, parts: tuple[str, ...]) -> bool:
    return any(part in file for part in parts)


def _stack(frame: FrameType | None) -> Iterator[tuple[str, str]]:
    while frame is not None:
        yield frame.f_code.co_filename, frame.f_code.co_name
        frame = frame.f_back
