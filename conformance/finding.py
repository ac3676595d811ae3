"""Counterexamples of the checks of one session: made while the target is still open, within a time for all of them."""

from __future__ import annotations

import time

from conformance.check import Check
from conformance.counterexample import Counterexample
from conformance.counterexamples import SECONDS, About, Maker
from conformance.histories import History
from conformance.judging import Judgement
from conformance.rehearsal import Stage
from conformance.release import version
from conformance.target import DEFAULT_TARGET, Opened, open_target
from conformance.verdict import Verdict
from conformance.wire.bundle import Bundle

SECONDS_IN_ALL = 60.0
"""A provider that fails everything is not reduced for hours; what is found first is reduced first."""


class Finder:
    """Makes counterexamples; the oracle is opened when the first one is wanted."""

    def __init__(self, bundle: Bundle, *, seed: int = 0, profile: str = "", seconds: float = SECONDS_IN_ALL) -> None:
        self._bundle = bundle
        self._seed = seed
        self._profile = profile
        self._left = seconds
        self._model: Opened | None = None

    def find(self, check: Check, judged: Judgement, history: History, opened: Opened) -> Counterexample | None:
        """Return the counterexample of a check that failed, None where it did not fail or no time is left."""
        failure = judged.failure
        if judged.verdict is not Verdict.FAIL or failure is None or self._left <= 0:
            return None
        began = time.monotonic()
        about = About(
            check.rule.rule_id,
            judged.reason,
            check.check_id,
            check.sentence,
            version(),
            self._seed,
            self._profile,
        )
        maker = Maker(self._bundle, Stage(opened, self._bundle), self._oracle(), seconds=min(SECONDS, self._left))
        try:
            return maker.of_history(history, failure, about) or maker.of_check(history, failure, about)
        except Exception as error:
            # The failure counts, whatever becomes of its counterexample.
            return maker.alone(failure, about, error)
        finally:
            self._left -= time.monotonic() - began

    def _oracle(self) -> Stage:
        if self._model is None:
            self._model = open_target(DEFAULT_TARGET, bundle=self._bundle).open()
        return Stage(self._model, self._bundle)

    def close(self) -> None:
        """Close the oracle."""
        if self._model is not None:
            self._model.shim.close()
            self._model = None
