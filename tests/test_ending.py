"""A signal that asks to end is heard whenever it comes, also while Python drops what its handler raises."""

from __future__ import annotations

import gc
import signal
import time

import pytest

from conformance.commands.ending import ended_by_signal
from tests.signals import while_collected


def _collect_and_wait() -> None:
    gc.collect()
    time.sleep(60)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_comes_while_garbage_is_collected_is_heard(number: signal.Signals) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with while_collected(lambda: signal.raise_signal(number)), pytest.raises(KeyboardInterrupt), ended_by_signal():
            _collect_and_wait()
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_else_python_drops_is_told_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    with while_collected(lambda: 1 // 0), ended_by_signal():
        gc.collect()
    assert "ZeroDivisionError" in capsys.readouterr().err
