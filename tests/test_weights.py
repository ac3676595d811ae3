"""Workers begin with what takes long: weights are learned from results, kept, and change the order of work alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.catalogue import named
from conformance.cli import main
from conformance.runner import Order, run
from conformance.verdict import CheckResult
from conformance.weights import cache, dealt, digest_of, keep, kept, longest_first, weights_of
from reports import json_file
from tests.result_samples import big

CHOSEN = [named(name) for name in ("R007", "R023", "R026")]


class Ended:
    """Takes down in which order checks end."""

    def __init__(self) -> None:
        self.rules: list[str] = []

    def began(self, result: object) -> None: ...

    def collected(self, total: int) -> None: ...

    def ended(self, result: CheckResult) -> None:
        self.rules.append(result.rule_id)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_longest_is_first_and_an_unknown_one_in_the_middle() -> None:
    names = {0: "short", 1: "new", 2: "long", 3: "shorter"}
    assert longest_first(names, {"short": 1.0, "long": 9.0, "shorter": 0.5, "gone": 70.0}) == [2, 1, 0, 3]
    assert longest_first(names, {}) == [0, 1, 2, 3]


def test_dealt_out_so_no_worker_is_left_with_much() -> None:
    weights = {str(number): 10.0 / (number + 1) for number in range(60)}
    loads = [0.0, 0.0]
    for place in longest_first(dict(enumerate(weights)), weights):
        loads[loads.index(min(loads))] += weights[str(place)]
    assert max(loads) / sum(loads) < 0.501


def test_shards_are_of_similar_weight() -> None:
    weights = {str(number): 10.0 / (number + 1) for number in range(60)}
    loads = [0.0] * 4
    for name, shard in zip(weights, dealt([*weights], weights, 4), strict=True):
        loads[shard - 1] += weights[name]
    assert max(loads) / sum(loads) < 0.26
    assert dealt(["a", "b", "c", "d", "e"], {}, 2) == [1, 2, 1, 2, 1]
    assert dealt(["a", "new", "c"], {"a": 1.0, "c": 4.0, "gone": 9.0}, 2) == [2, 2, 1]


def test_other_weights_have_another_name() -> None:
    assert digest_of({}) == ""
    assert digest_of({"a": 1.0, "b": 2.0}) == digest_of({"b": 2.0, "a": 1.0}) != digest_of({"a": 1.0, "b": 3.0})


def test_what_a_run_took_is_kept_beside_what_was_known() -> None:
    first = big(40, failing=0)
    second = replace(first, rules=tuple(replace(rule, checks=rule.checks[:1]) for rule in first.rules))
    keep("oracle", "quick", first)
    keep("oracle", "quick", second)
    assert kept("oracle", "quick") == weights_of(first) != weights_of(second)
    assert kept("oracle", "full") == kept("other", "quick") == {}


@pytest.mark.parametrize("text", ["", "[]", '{"a": "b"}', '{"a": NaN}', '{"a": true}', "\udcff"])
def test_what_cannot_be_read_counts_for_nothing(text: str) -> None:
    keep("oracle", "quick", big(40, failing=0))
    (file,) = cache().iterdir()
    file.write_text(text, "utf-8", "surrogateescape")
    assert kept("oracle", "quick") == {}


def test_a_folder_that_cannot_be_written_is_no_trouble() -> None:
    cache().parent.mkdir(parents=True)
    cache().write_text("no folder", "utf-8")
    keep("oracle", "quick", big(40, failing=0))
    assert kept("oracle", "quick") == {}


def test_a_worker_begins_with_the_longest_and_the_result_is_in_order() -> None:
    plain = run(Order(profile="smoke"), CHOSEN)
    by_rule = {check.rule_id: check.node_id for check in plain.checks}
    assert list(by_rule) == ["MEM-R007", "MEM-R023", "MEM-R026"]
    weights = {by_rule["MEM-R026"]: 5.0, by_rule["MEM-R007"]: 1.0, by_rule["MEM-R023"]: 3.0}
    ended = Ended()
    result = run(Order(profile="smoke", workers=1, weights=weights), CHOSEN, ended)
    assert ended.rules == ["MEM-R026", "MEM-R023", "MEM-R007"]
    assert [(check.check_id, check.sent) for check in result.checks] == [(check.check_id, check.sent) for check in plain.checks]


def test_the_command_learns_and_takes_a_result(tmp_path: Path) -> None:
    assert main(["run", "--profile", "smoke", "--rules", "R007,R023", "-q"]) == 0
    assert len(kept("oracle", "smoke")) == 2
    file = tmp_path / "result.json"
    file.write_text(json_file.render(big(40, failing=0)), "ascii")
    assert main(["run", "--profile", "smoke", "--rules", "R007", "-q", "--weights", str(file)]) == 0


def test_a_weight_file_that_is_no_result_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"a": 1}), "ascii")
    for name in ("x.json", "nowhere.json"):
        assert main(["run", "--weights", str(tmp_path / name)]) == 3
        assert len(capsys.readouterr().err.splitlines()) == 1
