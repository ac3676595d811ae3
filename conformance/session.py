"""What the checks of one pytest session share: the target, the bundle, and what was learnt on the way.

A provider that has stopped answering is not asked by every check that is left, each for its whole deadline; and a run that only
wants to know whether a rule is broken stops at the rule's first failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import hypothesis

from conformance import budget
from conformance.absence import REFUSALS
from conformance.bench import Bench
from conformance.check import Check
from conformance.doing import Doing
from conformance.edge.probe import Edge
from conformance.errors import NoAnswer, NotOffered
from conformance.expect import Inconclusive, NotApplicable
from conformance.finding import Finder
from conformance.generation import settle
from conformance.judging import LeftOut
from conformance.listening import Listening
from conformance.playback import Playback, Played
from conformance.profiles import Profile
from conformance.recording import Recording, section_file
from conformance.serving.openapi import document
from conformance.settings import check_seed, settings_of
from conformance.target import Opened, Target
from conformance.transport.shim import Shim
from conformance.verdict import CheckResult, Verdict
from conformance.wire.bundle import Bundle

PATIENCE = 3
"""After so many checks in a row that got no answer the provider counts as dead."""

RESTART = "restart"
"""A lever that a shim may have where no control is offered, so that only pulling it tells."""


@dataclass
class Session:
    """The shared part of a run in one process."""

    target: Target
    bundle: Bundle
    profile: Profile
    seed: int
    stop_early: bool = False
    finder: Finder | None = None
    sections: Path | None = None
    playback: Playback | None = None
    _unanswered: int = 0
    _broken: set[str] = field(default_factory=set)
    _modules: int = -1

    def settle(self) -> None:
        """See that nothing is drawn of what was imported by now (see ``conformance.generation``)."""
        self._modules = settle(self._modules)

    def settings(self, check: Check) -> hypothesis.settings:
        """Return hypothesis' settings for a check."""
        return settings_of(self.profile, budget.factor_of(check), shrink=not self.stop_early)

    def seed_of(self, check: Check) -> int:
        """Return the seed of a check."""
        return check_seed(self.seed, check.check_id)

    def open(self, check: Check | None = None) -> Opened:
        """Open the target, or a check's part of the recording that is played in its place.

        Raises ``NotApplicable`` where it has no memory family, ``BadTarget`` where it cannot be used.
        """
        if self.playback is not None and check is not None:
            return self.playback.open(check.check_id)
        try:
            return self.target.open()
        except NotOffered as nothing:
            raise NotApplicable(str(nothing)) from nothing

    @contextmanager
    def way(self, doing: Doing, opened: Opened) -> Iterator[Shim]:
        """Give the way to what was opened: one that writes down what goes through it, where that is wanted."""
        if self.sections is None:
            yield opened.shim
            if isinstance(opened.shim, Played) and doing.error is None:
                opened.shim.over()
            return
        file = section_file(self.sections, doing.node_id)
        with closing(Recording(opened.shim, opened, doing.check.check_id, file)) as recording:
            yield recording

    def bench(self, check: Check, opened: Opened, shim: Shim) -> Bench:
        """Make a check's place of work, over ``shim``, the way to what was opened."""
        return Bench(
            shim,
            self.bundle,
            opened.facts,
            check_id=check.check_id,
            seed=self.seed,
            most_rows=self.profile.rows,
            edge=self.edge,
            homes=opened.homes,
            logins=opened.logins,
        )

    @property
    def edge(self) -> Edge | None:
        """The HTTP edge of the target, None where it has none.

        What it sees cannot be judged again from a recording, so none has it: neither the run that is recorded nor its playback.
        """
        if self.target.address is None or self.playback is not None or self.sections is not None:
            return None
        route = self.target.route
        contract = partial(document, self.bundle)
        return Edge(self.target.address, route.deadline, contract, self.profile.examples, route.headers, route.ca)

    def find(self, doing: Doing, opened: Opened) -> None:
        """Make the counterexample of a check that failed, on the way to the target that is still open."""
        if self.finder is not None and doing.error is not None and doing.listening is not None:
            heard = Listening(opened.shim)
            over = replace(opened, shim=heard)
            doing.counterexample = self.finder.find(doing.check, doing.judgement(), doing.listening.history, over)
            doing.secrets = doing.secrets.with_more(heard.credentials)

    def close(self) -> None:
        """Close the target, and what was opened beside it."""
        self.target.close()
        if self.finder is not None:
            self.finder.close()

    def admit(self, check: Check) -> None:
        """Raise ``LeftOut`` where the check is not worth running any more."""
        if self._unanswered >= PATIENCE:
            raise LeftOut(f"not run: the provider gave no answer to {PATIENCE} checks in a row", Verdict.INCONCLUSIVE)
        if self.stop_early and check.rule.rule_id in self._broken:
            raise LeftOut("not run: another check of the rule failed", Verdict.DESELECTED)

    def learn(self, result: CheckResult, error: BaseException | None) -> None:
        """Take note of how a check ended."""
        if not isinstance(error, LeftOut):
            self._unanswered = self._unanswered + 1 if isinstance(error, NoAnswer) else 0
        if result.verdict is Verdict.FAIL:
            self._broken.add(result.rule_id)


def requirements(check: Check, bench: Bench) -> None:
    """See that the target offers what the check needs.

    Where a flag is not declared, its refusal is checked instead: raises ``NotApplicable`` where it is refused as it must be and
    ``CheckFailed`` where it is not. Raises ``Inconclusive`` for a lacking control.
    """
    for flag in check.flags:
        if flag not in bench.bundle.flags:
            bench.require(flag)
        if not bench.declares(flag):
            REFUSALS[flag](bench, flag)
            raise NotApplicable(f"the target does not declare {bench.bundle.flag(flag)}; its refusal was checked instead")
    for control in check.controls:
        if control != RESTART and not bench.levers.has(control):
            raise Inconclusive(f"the target offers no control.{control}")
