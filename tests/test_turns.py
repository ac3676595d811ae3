"""Turns at a shared provider: together, or alone, and nobody waits for ever."""

from __future__ import annotations

import threading
import uuid

from conformance.turns import Turns


def entered(turns: Turns, *controls: str) -> tuple[threading.Thread, threading.Event, threading.Event]:
    """Take a turn in a thread: it says that it is in, and leaves when it is told."""
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with turns.taken(controls):
            inside.set()
            leave.wait(20)

    thread = threading.Thread(target=stay, daemon=True)
    thread.start()
    return thread, inside, leave


def test_checks_without_levers_share_and_one_with_a_lever_is_alone() -> None:
    turns = Turns(f"http://{uuid.uuid4()}")
    _, first, leave_first = entered(turns)
    _, second, leave_second = entered(turns, "provision", "principal")
    assert first.wait(10)
    assert second.wait(10)
    _, alone, leave_alone = entered(turns, "clock")
    assert not alone.wait(0.3)
    _, later, leave_later = entered(turns)
    assert not later.wait(0.3), "who comes later must not keep out who waits to be alone"
    leave_first.set()
    leave_second.set()
    assert alone.wait(10)
    assert not later.wait(0.3)
    leave_alone.set()
    assert later.wait(10)
    leave_later.set()


def test_targets_do_not_wait_for_each_other() -> None:
    _, one, leave_one = entered(Turns(f"http://{uuid.uuid4()}"), "hold")
    _, other, leave_other = entered(Turns(f"http://{uuid.uuid4()}"), "hold")
    assert one.wait(10)
    assert other.wait(10)
    leave_one.set()
    leave_other.set()
