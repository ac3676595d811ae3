"""``memory-conformance schemas``: look at a bundle, or tell what a change of it really changes."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.console import Console

from conformance.catalogue import named
from conformance.errors import BadUsage
from conformance.gate import check_words, terminal
from conformance.gate.checking import Checked, check
from conformance.gate.comparison import compare
from conformance.gate.markdown import markdown
from conformance.gate.outcome import Comparison, Policy, Step
from conformance.gate.reruns import faults_of
from conformance.gate.revisions import PACKAGED, both
from conformance.gate.suite_effect import Asked, effect
from conformance.gate.words import headline
from conformance.profiles import profile_named

Writer = Callable[[Any], str]


def main(options: Namespace) -> int:
    """Do what was asked and return the exit code. Raises ``BadInput`` for what a person got wrong."""
    return {"check": _check, "diff": _diff}[options.action](options)


def _diff(options: Namespace) -> int:
    if options.examples < 1:
        raise BadUsage(f"--examples {options.examples}: at least one instance is tried.")
    reports = [_report(text, _COMPARISON) for text in options.report]
    asked = _asked(options)
    if len(options.bundles) != 2:
        raise BadUsage("schemas diff takes two bundles, the old one and the new one.")
    policy = Policy(options.readers == "tolerant", Step(options.version_step), options.examples)
    before, after = options.bundles
    with both(before, after, options.within) as (old, new):
        found = compare(old.bundle, new.bundle, policy)
        if not options.no_suite or asked.anything:
            found = replace(found, effect=effect(old, new, asked, static=not options.no_suite))
    _write(reports, found)
    _say(options, headline(found), lambda: terminal.report(found, verbose=options.verbose))
    return found.exit_code()


def _asked(options: Namespace) -> Asked:
    if options.workers < 1:
        raise BadUsage(f"-n {options.workers}: the number of processes is 1 or more.")
    profile = None if options.run is None else profile_named(options.run).name
    transcripts = None if options.transcripts is None else Path(options.transcripts)
    if transcripts is not None and not transcripts.exists():
        raise BadUsage(f"--transcripts {transcripts}: there is no such file or directory.")
    rules = tuple(named(part) for text in options.rules for part in text.split(","))
    if options.kill_matrix:
        faults_of(rules)  # that there are none here is told before anything is compared
    return Asked(profile, options.kill_matrix, transcripts, options.workers, rules)


def _check(options: Namespace) -> int:
    reports = [_report(text, _CHECKED) for text in options.report]
    if len(options.bundles) > 1:
        raise BadUsage("schemas check takes one bundle.")
    found = check(options.bundles[0] if options.bundles else PACKAGED, options.within)
    _write(reports, found)
    _say(options, check_words.headline(found), lambda: check_words.report(found))
    return found.exit_code()


def _say(options: Namespace, headline: str, parts: Callable[[], Any]) -> None:
    if "-" in {text.partition(":")[2] for text in options.report}:
        return
    console = Console(highlight=False)
    for part in [headline] if options.quiet else parts():
        console.print(part, markup=False, soft_wrap=options.quiet)


def _as_json(found: Comparison | Checked) -> str:
    return json.dumps(found.to_json(), indent=1, ensure_ascii=False) + "\n"


_COMPARISON: Mapping[str, Writer] = MappingProxyType({"json": _as_json, "markdown": markdown})
_CHECKED: Mapping[str, Writer] = MappingProxyType({"json": _as_json, "markdown": check_words.markdown})


def _report(text: str, writers: Mapping[str, Writer]) -> tuple[str, Writer]:
    name, _, path = text.partition(":")
    if name not in writers or not path:
        raise BadUsage(f"--report {text}: write it as FORMAT:FILE, where FORMAT is {' or '.join(writers)}.")
    return path, writers[name]


def _write(reports: list[tuple[str, Writer]], found: Any) -> None:
    for path, writer in reports:
        if path == "-":
            sys.stdout.write(writer(found))
            continue
        try:
            Path(path).write_text(writer(found), "utf-8")
        except OSError as error:
            raise BadUsage(f"{path}: the report cannot be written: {error.strerror}.") from error
