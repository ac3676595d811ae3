"""What a run was asked to look at: whole rules, or single checks by their ids."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from conformance.catalogue import Rule, name_of, named
from conformance.collecting import collected
from conformance.errors import BadUsage

_WHOLE = ("rules", "shard", "baseline", "record")
"""Options that are about whole rules: what a few checks say is not compared, put together or played again."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rules to run, all where none is named; of these the named ``checks`` alone, all where none is named."""

    rules: tuple[Rule, ...] = ()
    checks: tuple[str, ...] = ()


def chosen(options: Namespace) -> Chosen:
    """Return what ``--rules`` and ``--check`` ask for. Raises ``BadUsage`` for what there is not."""
    if not options.check:
        return Chosen(tuple(named(name) for text in options.rules for name in text.split(",") if name.strip()))
    for name in _WHOLE:
        if getattr(options, name):
            raise BadUsage(f"--check runs single checks, and --{name} is about whole rules: leave out one of them.")
    known = [check.check_id for check in collected()]
    checks = tuple(dict.fromkeys(check for text in options.check for check in _meant(text, known)))
    return Chosen(tuple({(rule := named(check.partition(".")[0])).rule_id: rule for check in checks}.values()), checks)


def _meant(text: str, known: Sequence[str]) -> list[str]:
    """Return the check of this id, or all parameters of a check that is named without one. Raises ``BadUsage``."""
    found = [check for check in known if text in (check, name_of(check))]
    if not found:
        near = get_close_matches(text, [*known, *map(name_of, known)], 1)
        hint = f"the nearest is {near[0]}" if near else "memory-conformance explain MEM-R016 lists those of a rule"
        raise BadUsage(f"there is no check {text!r}: {hint}.")
    return found
