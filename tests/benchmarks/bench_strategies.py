"""How fast valid data is made, for sixteen documents of the bundle, by four makers. One run; prints one table.

    python -m tests.benchmarks.bench_strategies [--examples 500] [--only ours,hand] [--rounds 1]

The makers: ``ours`` (strategies/from_schema.py), ``hand`` (``hand_written.py``), ``schemathesis`` (the generator behind its
``as_strategy``, without the cost of a ``Case`` around each body) and ``h-jsonschema`` (``hypothesis_jsonschema.from_schema``).
The last two get the same schema with its references inlined, because the one follows none across files.

How it measures. Each maker runs in a process of its own, started from this one with the same interpreter, because schemathesis
changes Hypothesis when it is imported (size of the buffer, printer) and nothing of that may be left for the others. Each
document is one ``@given`` test with ``max_examples`` examples in the generate phase, no database, the same seed; compilation and
a warm-up run come before. Time is the process's CPU time, so that other work on the machine counts less; an example is a call of
the test's body. The body validates what it got (about 10 microseconds), so that a fast maker of invalid data shows.

What is discarded is counted with public means only: a first argument of the test counts how often Hypothesis began an example,
the body counts how often it got one; the difference was filtered out, overran, or was rejected in another way.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.wire import bundle as bundles
from strategies.fallback import inlined
from strategies.from_schema import compiled
from strategies.reasons import Unbuilt
from strategies.schema_source import SchemaSource
from tests.benchmarks.hand_written import HAND_WRITTEN

BARS = {"h-jsonschema": 15.0, "schemathesis": 3.0, "hand": 0.8}
DISCARD_BAR = 0.02
SLOW = {"h-jsonschema": 4}
"""Of the slow one so many times fewer examples are made."""


@dataclass(frozen=True)
class Figure:
    """One document by one maker: examples per second, share of begun examples that were discarded, share of valid ones."""

    title: str
    rate: float
    discarded: float
    valid: float


def _inlined(ref: str) -> Any:
    source = SchemaSource(bundles.load().registry)
    return inlined(source, source.at(ref), Unbuilt(ref, "$ref", "inlined for a benchmark"))


def _ours(title: str) -> SearchStrategy[Any]:
    packaged = bundles.load()
    return compiled(packaged, packaged.model_ref(title))


def _by_hand(title: str) -> SearchStrategy[Any]:
    return HAND_WRITTEN[title]


def _schemathesis(title: str) -> SearchStrategy[Any]:
    from schemathesis.generation.jsonschema import builder
    from schemathesis.specs.openapi import formats

    known = formats.get_default_format_strategies()
    return builder.build(_inlined(bundles.load().model_ref(title)), draft=7, formats=known)


def _hypothesis_jsonschema(title: str) -> SearchStrategy[Any]:
    from hypothesis_jsonschema import from_schema

    strategy: SearchStrategy[Any] = from_schema(_inlined(bundles.load().model_ref(title)))
    return strategy


MAKERS: dict[str, Callable[[str], SearchStrategy[Any]]] = {
    "ours": _ours,
    "hand": _by_hand,
    "schemathesis": _schemathesis,
    "h-jsonschema": _hypothesis_jsonschema,
}


def measure(title: str, strategy: SearchStrategy[Any], examples: int, rounds: int) -> Figure:
    """Run the strategy ``rounds`` times after a warm-up, and give the best round."""
    _round(title, strategy, max(10, examples // 10))
    return max((_round(title, strategy, examples) for _ in range(rounds)), key=lambda figure: figure.rate)


def _round(title: str, strategy: SearchStrategy[Any], examples: int) -> Figure:
    begun: list[None] = []
    verdicts: list[bool] = []
    validator = bundles.load().model(title)

    @seed(1)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.builds(lambda: begun.append(None)), strategy)
    def made(_: None, value: Any) -> None:
        verdicts.append(validator.accepts(value))

    start = time.process_time()
    made()
    seconds = time.process_time() - start
    return Figure(title, len(verdicts) / seconds, 1 - len(verdicts) / len(begun), sum(verdicts) / len(verdicts))


def _child(maker: str, examples: int, rounds: int) -> None:
    for title in HAND_WRITTEN:
        try:
            figure = measure(title, MAKERS[maker](title), examples, rounds)
        except Exception as error:
            sys.stdout.write(json.dumps({"title": title, "error": f"{type(error).__name__}: {error}"[:160]}) + "\n")
        else:
            sys.stdout.write(json.dumps(asdict(figure)) + "\n")


def run(maker: str, examples: int, rounds: int) -> dict[str, Figure]:
    """Measure a maker in a process of its own; documents that it cannot make are left out and named on stderr."""
    command = [sys.executable, "-m", "tests.benchmarks.bench_strategies", "--child", maker, "--examples", str(examples)]
    done = subprocess.run([*command, "--rounds", str(rounds)], capture_output=True, text=True, check=True)
    figures = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if "error" in row:
            sys.stderr.write(f"{maker} cannot make {row['title']}: {row['error']}\n")
        else:
            figures[row["title"]] = Figure(**row)
    return figures


def table(results: dict[str, dict[str, Figure]]) -> str:
    """Lay out examples per second, then medians, ratios and shares."""
    makers = list(results)
    lines = ["examples/s".ljust(32) + "".join(maker.rjust(14) for maker in makers)]
    for title in HAND_WRITTEN:
        cells = (results[maker].get(title) for maker in makers)
        lines.append(title.ljust(32) + "".join((f"{cell.rate:.0f}" if cell else "-").rjust(14) for cell in cells))
    summary: list[tuple[str, Callable[[list[Figure]], str]]] = [
        ("median", lambda figures: f"{statistics.median(figure.rate for figure in figures):.0f}"),
        ("discarded, median", lambda figures: f"{statistics.median(figure.discarded for figure in figures):.1%}"),
        ("discarded, mean", lambda figures: f"{statistics.mean(figure.discarded for figure in figures):.1%}"),
        ("discarded, worst", lambda figures: f"{max(figure.discarded for figure in figures):.1%}"),
        ("valid, worst", lambda figures: f"{min(figure.valid for figure in figures):.1%}"),
    ]
    for label, cell in summary:
        lines.append(label.ljust(32) + "".join(cell(list(results[maker].values())).rjust(14) for maker in makers))
    return "\n".join(lines)


def ratios(results: dict[str, dict[str, Figure]]) -> dict[str, float]:
    """Give, for each other maker, the median over the documents of how many times faster ours is."""
    ours = results["ours"]
    return {
        maker: statistics.median(ours[title].rate / figure.rate for title, figure in figures.items() if title in ours)
        for maker, figures in results.items()
        if maker != "ours"
    }


def main() -> int:
    """Measure, print, and return 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description="Examples per second of valid data.")
    parser.add_argument("--examples", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default=",".join(MAKERS), help="makers, with commas between")
    parser.add_argument("--child", choices=list(MAKERS), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        _child(chosen.child, chosen.examples, chosen.rounds)
        return 0
    makers = chosen.only.split(",")
    results = {maker: run(maker, max(20, chosen.examples // SLOW.get(maker, 1)), chosen.rounds) for maker in makers}
    libraries = ("hypothesis", "hypothesis-jsonschema", "schemathesis")
    versions = " ".join(f"{name} {importlib.metadata.version(name)}" for name in libraries)
    sys.stdout.write(f"CPython {platform.python_version()}, {versions}, {chosen.examples} examples\n{table(results)}\n")
    discarded = [figure.discarded for figure in results.get("ours", {}).values()]
    missed = bool(discarded) and statistics.mean(discarded) >= DISCARD_BAR
    for maker, ratio in ratios(results).items() if "ours" in results else ():
        missed |= ratio < BARS[maker]
        sys.stdout.write(f"ours / {maker}: median {ratio:.2f}x (bar {BARS[maker]}x)\n")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
