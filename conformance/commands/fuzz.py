"""``memory-conformance fuzz``: look for what a target does otherwise than the contract, for as long as it may take."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from conformance.commands.here import find_modules_here
from conformance.errors import BadInput, BadUsage
from conformance.fuzz.corpus import open_corpus
from conformance.fuzz.crew import Outcome, run
from conformance.fuzz.figures import summary, watching
from conformance.fuzz.order import Order
from conformance.machine.acts import ASKED_FOR
from conformance.target import open_target
from conformance.wire.bundle import load

NOTHING, FOUND, TROUBLE = 0, 1, 3
DEFAULT_MINUTES = 1.0


def main(options: Namespace) -> int:
    """Fuzz, tell what came of it, and return the exit code. Raises ``BadInput`` for what a person got wrong."""
    _check(options)
    find_modules_here()
    corpus = open_corpus(None if options.corpus is None else Path(options.corpus))
    folder = corpus.findings if options.findings is None else Path(options.findings)
    order = Order(
        target=options.target,
        focus=options.focus,
        seconds=_seconds(options),
        calls=options.calls,
        workers=options.workers,
        seed=options.seed,
        schemas=options.schemas,
        first=corpus.episodes,
    )
    with open_target(order.target, bundle=load(order.schemas)).started(), watching(order, quiet=options.quiet) as look:
        outcome = run(order, corpus, look)
    if outcome.unusable:
        raise BadInput(outcome.unusable)
    if folder is not None:
        outcome.findings.save(folder)
    _say(outcome, order, folder)
    return TROUBLE if outcome.troubles else FOUND if outcome.findings.found else NOTHING


def _check(options: Namespace) -> None:
    if options.focus not in ASKED_FOR:
        raise BadUsage(f"--focus {options.focus}: there is no such focus; write one of {', '.join(ASKED_FOR)}.")
    if options.workers < 0:
        raise BadUsage(f"-n {options.workers}: the number of workers is 0 or more.")
    if options.minutes is not None and not 0 < options.minutes < float("inf"):
        raise BadUsage(f"--minutes {options.minutes:g}: give a number above 0.")
    if options.calls is not None and options.calls < 1:
        raise BadUsage(f"--calls {options.calls}: give a number above 0.")


def _seconds(options: Namespace) -> float | None:
    if options.minutes is None:
        return None if options.calls is not None else DEFAULT_MINUTES * 60
    return float(options.minutes) * 60


def _say(outcome: Outcome, order: Order, folder: Path | None) -> None:
    console = Console(highlight=False)
    for part in summary(outcome, order, folder):
        console.print(part, soft_wrap=isinstance(part, Text))
    for trouble in outcome.troubles:
        sys.stderr.write(f"memory-conformance: the suite is at fault: {trouble}\n")
