"""Does the same seed send the same? One order is run in many ways, and the results are compared byte by byte.

    python -m tests.repeating [--profile quick] [--rules R016,R023] [--target T] [--modules]

The ways: 0, 1 and 2 workers under different ``PYTHONHASHSEED``, all checks backwards, each rule alone (``--modules``). All are
equal but for times and for what names the instance. Prints a row a way; exits with 1 where one differs, and says where.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest

from conformance.catalogue import named, rules
from conformance.cli import main as command

ROOT = Path(__file__).parent.parent
START = """\
import sys
from tests.repeating import {function}
WORDS = ["word {number}", 10{number}, 2.{number}5]  # what hypothesis finds in a script and could draw
if __name__ == "__main__":
    sys.exit({function}(sys.argv[1:]))
"""
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
INSTANCE = re.compile(r'"instance": "[^"]*"')
Result = dict[str, Any]


class Backwards:
    """A pytest plugin that turns the order of the checks round."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.reverse()


def run_backwards(arguments: Sequence[str]) -> int:
    """Do as the command does, with the checks in the other order (in this process alone)."""
    before = pytest.main

    def turned(args: list[str], plugins: list[object]) -> int | pytest.ExitCode:
        return before(args, plugins=[*plugins, Backwards()])

    with mock.patch.object(pytest, "main", turned):
        return command(list(arguments))


def ran(target: str, *arguments: str, hash_seed: int = 0, backwards: bool = False) -> Result:
    """Run the command in a process of its own and return its result file, without times and without what names the instance."""
    with TemporaryDirectory() as place:
        file, script = Path(place) / "result.json", Path(place) / "start.py"
        script.write_text(START.format(function="run_backwards" if backwards else "command", number=hash_seed), "utf-8")
        subprocess.run(
            [sys.executable, str(script), "run", target, "-q", "--report", f"json:{file}", *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            check=False,
        )
        return timeless(json.loads(file.read_text("ascii")))


def timeless(result: Result) -> Result:
    """Leave out times, and what names the instance. What times were sent is in the digests of requests."""
    facts = {name: value for name, value in result["facts"].items() if name != "started"}
    told = [{**rule, "checks": [{**check, "seconds": 0} for check in rule["checks"]]} for rule in result["rules"]]
    text = TIME.sub("<time>", json.dumps({**result, "seconds": 0, "facts": facts, "rules": told}))
    plain: Result = json.loads(INSTANCE.sub('"instance": "<instance>"', text))
    return plain


def checks(result: Result) -> dict[str, Any]:
    """Return the results of the checks by their ids."""
    return {check["check_id"]: check for rule in result["rules"] for check in rule["checks"]}


def same_bytes(one: Any, other: Any) -> bool:
    """Say whether two values are written alike, the order of members included."""
    return json.dumps(one) == json.dumps(other)


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Tell where two JSON values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in {**one, **other}:
            yield from differences(one.get(name), other.get(name), f"{path}/{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            yield from differences(mine, theirs, f"{path}/{place}")
    elif one != other:
        yield f"{path}: {str(one)[:90]} is not {str(other)[:90]}"


def _ways(target: str, profile: Sequence[str], rules: Sequence[str], *, alone: bool) -> Iterator[tuple[str, Any, Any]]:
    """Give a name, what is expected and what came for each way."""
    arguments = [*profile, "--rules", ",".join(rules)]
    base = ran(target, *arguments, "-n", "0")
    for workers, hash_seed in ((0, 1), (1, 2), (2, 3)):
        yield f"-n {workers}, PYTHONHASHSEED={hash_seed}", base, ran(target, *arguments, "-n", str(workers), hash_seed=hash_seed)
    turned = ran(target, *arguments, "-n", "0", hash_seed=4, backwards=True)
    yield "backwards", dict(sorted(checks(base).items())), dict(sorted(checks(turned).items()))
    for number, rule in enumerate(rules if alone else ()):
        own = {name: one for name, one in checks(base).items() if one["rule_id"] == rule}
        yield f"{rule} alone", own, checks(ran(target, *profile, "--rules", rule, "-n", "0", hash_seed=number + 5))


def main() -> int:
    """Run all ways and tell."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--rules", default="")
    parser.add_argument("--target", default="oracle")
    parser.add_argument("--modules", action="store_true")
    options = parser.parse_args()
    chosen = [named(name).rule_id for name in options.rules.split(",")] if options.rules else list(rules())
    wrong = 0
    for name, expected, seen in _ways(options.target, ["--profile", options.profile], chosen, alone=options.modules):
        same = same_bytes(expected, seen)
        wrong += not same
        print(f"{name:32}{'the same' if same else 'DIFFERS'}", flush=True)  # noqa: T201
        for told in list(differences(expected, seen))[:20]:
            print(f"    {told}")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
