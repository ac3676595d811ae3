"""The machine: the acts as rules of a hypothesis ``RuleBasedStateMachine``, grouped by family.

Hypothesis chooses the acts, and gives each a source of choices that it can shrink; the invariants hold after each step. Where the
target lacks a lever, the rules that pull it are left out.
"""

from __future__ import annotations

from random import Random
from typing import Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from conformance.bench import Bench
from conformance.machine import acts, invariants
from conformance.machine.acts import Act
from conformance.machine.stage import Stage

CHOICES = st.randoms(use_true_random=False)


class Machine(RuleBasedStateMachine):
    """An episode that hypothesis plays. ``bench`` is set by ``machine_for``."""

    bench: Bench
    focus = "even"

    def __init__(self) -> None:
        super().__init__()
        self.stage: Stage | None = None
        self.ledger = invariants.Ledger()

    @initialize(random=CHOICES)
    def begin(self, random: Random) -> None:
        """Take a stage."""
        self.stage = Stage(self.bench, random)

    def act(self, act: Act, random: Random) -> None:
        """Do one act with hypothesis' choices."""
        if self.stage is not None:
            self.stage.random = random
            act.do(self.stage)

    def can(self, act: Act) -> bool:
        """Say whether the target offers what an act needs."""
        return self.stage is not None and act.is_possible(self.stage)

    @invariant()
    def holds(self) -> None:
        """Hold the invariants of every step against what the target shows."""
        if self.stage is not None:
            self.ledger.check(self.stage)

    def teardown(self) -> None:
        """Put back what others would meet."""
        if self.stage is not None:
            self.stage.end()


def _rule(act: Act) -> Any:
    def do(self: Machine, random: Random) -> None:
        self.act(act, random)

    do.__name__ = do.__qualname__ = f"{act.family}_{act.name}"
    return precondition(lambda self: self.can(act))(rule(random=CHOICES)(do))


def machine_for(bench: Bench) -> type[Machine]:
    """Make the machine of a target: its class, for ``run_state_machine_as_test`` or as a ``TestCase``."""
    rules: dict[str, Any] = {f"{act.family}_{act.name}": _rule(act) for act in acts.ACTS}
    return type("MachineOfTarget", (Machine,), {**rules, "bench": bench})


def settings(examples: int, steps: int, *, shrink: bool = True) -> hypothesis.settings:
    """Give hypothesis' settings for a machine: so many episodes of at most so many steps."""
    phases = [hypothesis.Phase.generate, *([hypothesis.Phase.shrink] if shrink else [])]
    return hypothesis.settings(
        max_examples=examples,
        stateful_step_count=steps,
        phases=phases,
        database=None,
        deadline=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
