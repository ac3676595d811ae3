"""``memory-conformance fuzz``: look for what a target does otherwise than the contract, for as long as it may take."""

from __future__ import annotations

import importlib.util
import sys
from argparse import Namespace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from conformance.commands.here import find_modules_here
from conformance.errors import BadInput, BadUsage
from conformance.fuzz.corpus import Corpus, open_corpus
from conformance.fuzz.crew import Look, Outcome, run
from conformance.fuzz.figures import summary, watching
from conformance.fuzz.order import SHARD, Order
from conformance.machine.acts import ASKED_FOR
from conformance.target import open_target
from conformance.wire.bundle import load

NOTHING, FOUND, TROUBLE = 0, 1, 3
DEFAULT_MINUTES = 1.0
DASK, LIBRARY = "dask:", "distributed"


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
        workers=_workers(options),
        seed=options.seed,
        schemas=options.schemas,
        first=corpus.episodes,
    )
    with watching(order, quiet=options.quiet) as look:
        outcome = _here(order, corpus, look) if options.cluster is None else _there(order, corpus, look, options)
    if outcome.unusable:
        raise BadInput(outcome.unusable)
    if folder is not None:
        outcome.findings.save(folder)
    _say(outcome, order, folder)
    return TROUBLE if outcome.troubles else FOUND if outcome.findings.found else NOTHING


def _here(order: Order, corpus: Corpus, look: Look) -> Outcome:
    with open_target(order.target, bundle=load(order.schemas)).started():
        return run(order, corpus, look)


def _there(order: Order, corpus: Corpus, look: Look, options: Namespace) -> Outcome:
    """Work on a cluster."""
    if importlib.util.find_spec(LIBRARY) is None:
        raise BadUsage(f"--cluster needs {LIBRARY}: pip install 'memory-conformance[cluster]'.")
    cluster = importlib.import_module("conformance.fuzz.cluster")
    outcome: Outcome = cluster.run(order, corpus, options.cluster.removeprefix(DASK), options.target_template, look)
    return outcome


def _workers(options: Namespace) -> int:
    """Return how many work: one where nothing is said, on a cluster as many as there are (0)."""
    given: int | None = options.workers
    return given if given is not None else 1 if options.cluster is None else 0


def _check(options: Namespace) -> None:
    if options.focus not in ASKED_FOR:
        raise BadUsage(f"--focus {options.focus}: there is no such focus; write one of {', '.join(ASKED_FOR)}.")
    _check_cluster(options)
    if _workers(options) < 0:
        raise BadUsage(f"-n {options.workers}: the number of workers is 0 or more.")
    if options.minutes is not None and not 0 < options.minutes < float("inf"):
        raise BadUsage(f"--minutes {options.minutes:g}: give a number above 0.")
    if options.calls is not None and options.calls < 1:
        raise BadUsage(f"--calls {options.calls}: give a number above 0.")


def _check_cluster(options: Namespace) -> None:
    if options.cluster is not None and not options.cluster.startswith(f"{DASK}tcp://"):
        raise BadUsage(f"--cluster {options.cluster}: write dask:tcp://HOST:PORT, the address of a Dask scheduler.")
    if options.target_template is None:
        return
    if options.cluster is None:
        raise BadUsage("--target-template goes with --cluster.")
    if SHARD not in options.target_template:
        raise BadUsage(f"--target-template {options.target_template}: {SHARD} stands for the number of a shard; write it in.")


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
