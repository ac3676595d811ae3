"""Results of the shards of a run put together again: the result of the whole run, in its order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from conformance.contract_coverage import contract_coverage
from conformance.errors import BadInput, BadUsage
from conformance.verdict import CheckResult, RuleResult, RunResult, Verdict
from conformance.wire.bundle import Bundle

_ALIKE = ("suite", "bundle", "target", "provider", "flags", "profile", "seed", "kill_matrix", "weights")
ELSEWHERE = "no check of this rule is in this shard"
NO_CHECK = "no check of this rule was run"
"""Why a rule has no check: in a shard, in a whole run."""


class BadShards(BadInput):
    """Results do not make one run. The sentence says which does not fit."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``number``, from 1, of ``of``."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def shard_named(text: str) -> Shard:
    """Return the shard that a person names, as ``2/3``. Raises ``BadUsage``."""
    number, slash, of = text.partition("/")
    if slash and number.isascii() and of.isascii() and number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of) <= 1000:
        return Shard(int(number), int(of))
    raise BadUsage(f"--shard {text}: a shard is named I/N, as 2/3: part I, from 1 to N, of N.")


def merged(named: Sequence[tuple[str, RunResult]], bundle: Bundle, order: Sequence[str]) -> RunResult:
    """Return the result of the run whose shards these are; each comes with the name of its file.

    ``order`` lists the ids of all checks as a whole run has them. Raises ``BadShards``.
    """
    first_name, first = named[0]
    for name, result in named[1:]:
        _same(first_name, first, name, result)
    results = _in_order(named)
    checks = _together(results, order)
    whole = replace(
        first,
        facts=replace(first.facts, shard="", weights="", started=min(result.facts.started for result in results)),
        rules=tuple(_rule(rules, checks) for rules in zip(*(result.rules for result in results), strict=True)),
        seconds=max(result.seconds for result in results),
        trouble=tuple(f"shard {result.facts.shard}: {said}" for result in results for said in result.trouble),
        complaints=tuple(dict.fromkeys(said for result in results for said in result.complaints)),
        complete=all(result.complete for result in results),
    )
    return replace(whole, coverage=contract_coverage(whole, bundle).to_json())


def _same(first_name: str, first: RunResult, name: str, result: RunResult) -> None:
    for fact in _ALIKE:
        one, other = getattr(first.facts, fact), getattr(result.facts, fact)
        if one != other:
            raise BadShards(f"{name} is no shard of the run of {first_name}: its {fact} is {other!r}, not {one!r}.")
    if _chosen(first) != _chosen(result):
        raise BadShards(f"{name} is no shard of the run of {first_name}: other rules were chosen.")


def _chosen(result: RunResult) -> list[str]:
    """List the rules that were chosen; one that has no check in a shard was chosen nevertheless."""
    return [
        rule.rule_id for rule in result.rules if rule.checks or rule.absent == ELSEWHERE or rule.absence is not Verdict.DESELECTED
    ]


def _in_order(named: Sequence[tuple[str, RunResult]]) -> list[RunResult]:
    by_number: dict[int, RunResult] = {}
    of = 0
    for name, result in named:
        if not result.facts.shard:
            raise BadShards(f"{name} is no shard but a whole run.")
        shard = shard_named(result.facts.shard)
        if of not in (0, shard.of):
            raise BadShards(f"{name} is shard {shard}, and others are of {of}.")
        if shard.number in by_number:
            raise BadShards(f"{name} is shard {shard}, which another file is too.")
        of, by_number[shard.number] = shard.of, result
    missing = [f"{number}/{of}" for number in range(1, of + 1) if number not in by_number]
    if missing:
        raise BadShards(f"these shards are lacking: {', '.join(missing)}.")
    return [by_number[number] for number in range(1, of + 1)]


def _rule(rules: Sequence[RuleResult], checks: Sequence[CheckResult]) -> RuleResult:
    own = tuple(check for check in checks if check.rule_id == rules[0].rule_id)
    if rules[0].absent != ELSEWHERE:
        return replace(rules[0], checks=own)
    return replace(rules[0], checks=own, absent=NO_CHECK, absence=Verdict.INCONCLUSIVE)


def _together(results: Sequence[RunResult], order: Sequence[str]) -> list[CheckResult]:
    """List the checks of all shards as a whole run has them; one that is not known comes last."""
    checks = [check for result in results for check in result.checks]
    doubled = [check_id for check_id, times in Counter(check.check_id for check in checks).items() if times > 1]
    if doubled:
        raise BadShards(f"{doubled[0]} is in two shards.")
    places = {check_id: place for place, check_id in enumerate(order)}
    return sorted(checks, key=lambda check: places.get(check.check_id, len(places)))
