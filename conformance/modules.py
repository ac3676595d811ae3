"""The rule modules that are there: which files check a rule, and what their checks say, without running them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from conformance.catalogue import PACKAGE, Rule, rule_of_module

_TEST = "test_"


@dataclass(frozen=True, slots=True)
class Listed:
    """A check as its module declares it; a parametrised one stands once. ``sentence`` is the first of its docstring."""

    check_id: str
    sentence: str


@cache
def directory() -> Path:
    """Return where the rule modules are."""
    return Path(str(resources.files(PACKAGE)))


def modules_of(rule: Rule) -> tuple[Path, ...]:
    """Return the modules of a rule, in order; none where it has none yet."""
    return tuple(path for path in sorted(directory().glob("test_mem_*.py")) if rule_of_module(path.stem) == rule)


def listed(rule: Rule) -> Iterator[Listed]:
    """Walk the checks of a rule as its modules declare them."""
    for path in modules_of(rule):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith(_TEST):
                yield Listed(f"{rule.rule_id}.{node.name.removeprefix(_TEST)}", first_sentence(ast.get_docstring(node)))


def first_sentence(text: str | None) -> str:
    """Return the first paragraph of a docstring in one line."""
    return " ".join((text or "").partition("\n\n")[0].split())
