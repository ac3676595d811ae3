"""The examples of a property: how many were tried before it fell, and those put aside that ask for what the contract lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import hypothesis
from hypothesis.errors import Unsatisfiable

from conformance.errors import NotInContract, TargetFault
from conformance.expect import CheckFailed


class Examples:
    """What the examples of one property came to: ``tried`` counts them, up to the first failure and with it."""

    def __init__(self) -> None:
        self.tried = 0
        self._fell = False
        self._lacking: NotInContract | None = None

    def of(self, test: Callable[..., Any]) -> Callable[..., Any]:
        """Return the test of one example, looked at from here."""

        @wraps(test)
        def tried(*arguments: Any, **named: Any) -> Any:
            self.tried += not self._fell
            try:
                return test(*arguments, **named)
            except NotInContract as lacking:
                self._lacking = lacking
                hypothesis.reject()
            except (CheckFailed, TargetFault):
                self._fell = True
                raise

        return tried

    def nothing_left(self, error: Unsatisfiable) -> BaseException:
        """Return why no example was left: the contract lacks what each asked for, or hypothesis' own reason."""
        return self._lacking or error


@contextmanager
def looked_at(function: Callable[..., Any]) -> Iterator[Examples]:
    """Look at the examples of a check while it runs; a check that is no property has none.

    An example that asks for an operation or a code that this run's contract lacks is put aside. Raises ``NotInContract`` where
    each one does.
    """
    examples = Examples()
    if not hypothesis.is_hypothesis_test(function):
        yield examples
        return
    handle = function.hypothesis  # type: ignore[attr-defined]
    test = handle.inner_test
    handle.inner_test = examples.of(test)
    try:
        yield examples
    except Unsatisfiable as error:
        raise examples.nothing_left(error) from error
    finally:
        handle.inner_test = test
