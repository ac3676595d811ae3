"""What a change of the contract does to this suite: what no check looks at, and what no longer applies or no longer bites."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance import scenes
from conformance.catalogue import Rule, rules
from conformance.gate.reruns import faults_of, killed_less, verdicts_changed
from conformance.gate.revisions import Named
from conformance.gate.transcripts import transcripts_changed
from conformance.ledger import ledger
from conformance.modules import modules_of
from conformance.wire.bundle import Bundle
from conformance.wire.documents import subschemas
from conformance.wire.vocabulary import Code
from strategies.negatives import targets


@dataclass(frozen=True)
class Asked:
    """What is to be found out by running: a profile of the suite, the kill matrix, recorded calls.

    ``workers`` is the number of processes; ``rules`` are those that are run, and whose faults are (all: none named).
    """

    profile: str | None = None
    kill_matrix: bool = False
    transcripts: Path | None = None
    workers: int = 2
    rules: tuple[Rule, ...] = ()

    @property
    def anything(self) -> bool:
        """True where something is to be run or judged anew."""
        return bool(self.profile or self.kill_matrix or self.transcripts)


def effect(old: Named, new: Named, asked: Asked, *, static: bool = True) -> Mapping[str, Any]:
    """Tell the effect; ``unknown`` lists what could not be found out, with reasons."""
    found: dict[str, Any] = dict(_by_reading(old.bundle, new.bundle)) if static else {}
    unknown: list[str] = []
    if asked.profile is not None:
        found["checks_with_another_verdict"], why = verdicts_changed(old, new, asked.profile, asked.workers, asked.rules)
        unknown += why
    if asked.kill_matrix:
        found["faults_that_no_longer_bite"], why = killed_less(old, new, asked.workers, faults_of(asked.rules))
        unknown += why
    if asked.transcripts is not None:
        judged, found["calls_with_another_verdict"], why = transcripts_changed(asked.transcripts, old.bundle, new.bundle)
        found["recorded_calls_judged"] = str(judged)
        unknown += why
    return {**found, "unknown": unknown}


def _by_reading(old: Bundle, new: Bundle) -> Iterator[tuple[str, list[str]]]:
    """Compare what the bundles have with what the rule modules name."""
    named = {name for words in _named().values() for name in words}
    gone = [op for op in old.operations if op not in new.operations]
    yield "operations_without_a_check_of_their_own", [op for op, row in new.operations.items() if row.stem not in named]
    lost = {name for _, name in _members(old)} - {name for _, name in _members(new)}
    unasked = {code.name for code in old.errors if code not in new.errors}
    flags = {flag.name for flag in old.flags if flag not in new.flags}
    checks = sorted(_naming({old.operations[op].stem for op in gone} | lost | unasked | flags))
    yield "checks_that_name_what_is_gone", checks
    yield "faults_killed_by_such_a_check", sorted(fault for fault, check in ledger().get("killed", {}).items() if check in checks)
    unnamed = [row.code for code, row in new.errors.items() if code.name not in named and code is not Code.INTERNAL]
    yield "codes_without_a_check", [*unnamed, *new.further_codes]
    yield "new_members_judged_by_schema_alone", sorted(_new_members(old, new, named))
    before, after = (_negatives(bundle) for bundle in (old, new))
    yield "negative_targets_gone", sorted(before - after)
    yield "negative_targets_new", sorted(after - before)


def _negatives(bundle: Bundle) -> set[str]:
    """List the negative targets; where no code says that a request is malformed, nothing can be asked of one."""
    return {str(target) for target in targets(bundle)} if Code.MALFORMED_REQUEST in bundle.errors else set()


def _new_members(old: Bundle, new: Bundle, named: Iterable[str]) -> Iterator[str]:
    before = set(_members(old))
    for title, name in _members(new):
        if (title, name) not in before and name not in named:
            yield f"{title}.{name}"


def _members(bundle: Bundle) -> Iterator[tuple[str, str]]:
    for identity, document in bundle.documents.items():
        for _, schema in subschemas(document):
            if isinstance(schema, Mapping):
                yield from ((str(document.get("title", identity)), name) for name in schema.get("properties", {}))


def _naming(stems: set[str]) -> Iterator[str]:
    return (check for check, words in _named().items() if words & stems and check)


@cache
def _named() -> Mapping[str, frozenset[str]]:
    """Tell which texts and names each check's source holds; under "" those of what checks share."""
    found: dict[str, frozenset[str]] = {"": _words(ast.parse(Path(scenes.__file__).read_text("utf-8")))}
    for rule in rules().values():
        for path in modules_of(rule):
            body = ast.parse(path.read_text("utf-8")).body
            parts = {name: node for node in body for name in _made(node)}
            for node in body:
                check = isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
                name = f"{rule.rule_id}.{getattr(node, 'name', '').removeprefix('test_')}" if check else ""
                found[name] = found.get(name, frozenset()) | (_all_words(node, parts) if check else _words(node))
    return found


def _made(node: ast.stmt) -> Iterator[str]:
    """Give the names that a statement of a module makes."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from (target.id for target in targets if isinstance(target, ast.Name))


def _all_words(node: ast.stmt, parts: Mapping[str, ast.stmt]) -> frozenset[str]:
    """Collect the words of a statement and of what it uses of its own module."""
    met: list[ast.stmt] = [node]
    for one in met:
        names = {inner.id for inner in ast.walk(one) if isinstance(inner, ast.Name)}
        met += [parts[name] for name in sorted(names & parts.keys()) if parts[name] not in met]
    return frozenset[str]().union(*map(_words, met))


def _words(tree: ast.AST) -> frozenset[str]:
    """Collect the texts and the names of symbols in a piece of source; docstrings say nothing."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
    return frozenset(found)
