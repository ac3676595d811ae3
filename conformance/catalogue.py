"""The 27 rules: what each says, where it is from, and which flags and operations it is about (rules.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

from conformance.errors import BadUsage

PACKAGE = "invariants"
_MODULE = re.compile(r"test_mem_(r\d{3})(?:_\w+)?\Z")
_RULE = re.compile(r"(?:MEM-)?(R\d{3})\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the contract. ``flags`` are symbols that it needs beyond the core, ``operations`` full names or ``*``."""

    rule_id: str
    slug: str
    title: str
    statement: str
    source: str
    flags: tuple[str, ...]
    operations: tuple[str, ...]

    @property
    def short(self) -> str:
        """The id without its prefix: ``R014``."""
        return self.rule_id.removeprefix("MEM-")


@cache
def rules() -> Mapping[str, Rule]:
    """Return the catalogue: rule id -> rule, in its order."""
    text = resources.files(PACKAGE).joinpath("catalogue.json").read_text("utf-8")
    listed = [_rule(**row) for row in json.loads(text)["rules"]]
    return MappingProxyType({rule.rule_id: rule for rule in listed})


def rule_of_module(stem: str) -> Rule | None:
    """Return the rule that a module named ``stem`` (``test_mem_r014_…``) checks, None where it is no rule module."""
    found = _MODULE.match(stem)
    return rules().get(f"MEM-{found[1].upper()}") if found else None


def name_of(check_id: str) -> str:
    """Return what the checks of one function are called alike: the id without its ``[parameter]``."""
    return check_id.partition("[")[0]


def named(text: str) -> Rule:
    """Return the rule that a person names: ``MEM-R014``, ``R014`` or ``r014``. Raises ``BadUsage``."""
    found = _RULE.match(text.strip())
    rule = rules().get(f"MEM-{found[1].upper()}") if found else None
    if rule is None:
        first, *_, last = rules()
        raise BadUsage(f"there is no rule {text.strip()!r}: the rules are {first} to {last}.")
    return rule


def _rule(id: str, *, flags: list[str], operations: list[str], **texts: str) -> Rule:  # noqa: A002 - the member's name in the file
    return Rule(rule_id=id, flags=tuple(flags), operations=tuple(operations), **texts)
