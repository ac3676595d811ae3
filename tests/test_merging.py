"""The shards of a run, put together, are the run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.catalogue import named
from conformance.cli import main
from conformance.collecting import in_order
from conformance.errors import BadUsage
from conformance.merging import BadShards, Shard, merged, shard_named
from conformance.runner import Order, run
from conformance.verdict import RunResult
from conformance.wire.bundle import load
from reports import json_file

CHOSEN = [named(name) for name in ("R026", "R003", "R023", "R015", "R001")]


@pytest.fixture(scope="module")
def shards() -> list[RunResult]:
    return [run(Order(profile="smoke", shard=Shard(number, 3)), CHOSEN) for number in (1, 2, 3)]


def together(shards: list[RunResult]) -> RunResult:
    return merged([(f"file{number}", result) for number, result in enumerate(shards)], load(), in_order())


def timeless(result: RunResult) -> RunResult:
    rules = tuple(replace(rule, checks=tuple(replace(check, seconds=0.0) for check in rule.checks)) for rule in result.rules)
    return replace(result, rules=rules, seconds=0.0, facts=replace(result.facts, started=""))


def test_the_shards_are_the_run(shards: list[RunResult]) -> None:
    whole = run(Order(profile="smoke"), CHOSEN)
    assert [len(result.checks) for result in shards] == [2, 2, 1]
    assert [result.exit_code() for result in shards] == [0, 0, 0]
    assert timeless(together(shards)) == timeless(whole)
    assert timeless(together(shards[::-1])) == timeless(whole)


def test_shards_dealt_out_by_weight_are_the_run_too() -> None:
    whole = run(Order(profile="smoke"), CHOSEN)
    last = whole.checks[-1]
    heavy = {check.node_id: 10.0 if check is last else 1.0 for check in whole.checks}
    shards = [run(Order(profile="smoke", shard=Shard(number, 2), deal_by=heavy), CHOSEN) for number in (1, 2)]
    assert [len(result.checks) for result in shards] == [1, 4]
    assert timeless(together(shards)) == timeless(whole)
    in_turn = run(Order(profile="smoke", shard=Shard(2, 2)), CHOSEN)
    with pytest.raises(BadShards, match="file1 is no shard of the run of file0: its weights is ''"):
        together([shards[0], in_turn])
    with pytest.raises(BadShards, match=f"{last.check_id} is in two shards"):
        together([shards[0], replace(shards[0], facts=replace(shards[0].facts, shard="2/2"))])


def test_what_does_not_make_one_run_is_refused(shards: list[RunResult]) -> None:
    one, two, three = shards
    for wrong, said in (
        ([one, two], r"these shards are lacking: 3/3\."),
        ([one, two, two], "file2 is shard 2/3, which another file is too"),
        (
            [one, two, replace(three, facts=replace(three.facts, seed=1))],
            "file2 is no shard of the run of file0: its seed is 1, not 0",
        ),
        ([one, replace(two, facts=replace(two.facts, shard="2/4"))], "file1 is shard 2/4, and others are of 3"),
        ([replace(one, facts=replace(one.facts, shard=""))], "file0 is no shard but a whole run"),
        ([one, replace(two, rules=(*two.rules[:5], shards[0].rules[0], *two.rules[6:])), three], "other rules were chosen"),
    ):
        with pytest.raises(BadShards, match=said):
            together(wrong)


def test_the_trouble_of_a_shard_is_that_of_the_run(shards: list[RunResult]) -> None:
    bad = replace(shards[1], trouble=("a worker died",), complete=False)
    result = together([shards[0], bad, shards[2]])
    assert (result.trouble, result.complete, result.exit_code()) == (("shard 2/3: a worker died",), False, 3)


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/0", "a/b", "1/2/3", "-1/2", "1/9999", "²/3"])
def test_a_shard_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(BadUsage, match="a shard is named I/N"):
        shard_named(text)


def test_the_command_merges_files(shards: list[RunResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for number, result in enumerate(shards):
        files.append(str(tmp_path / f"{number}.json"))
        Path(files[-1]).write_text(json_file.render(result), "ascii")
    assert main(["merge", *files, "--report", f"json:{tmp_path}/all.json"]) == 0
    assert "5 of 5 checks passed" in capsys.readouterr().out
    assert main(["merge", *files[:2]]) == 3
    assert capsys.readouterr().err == "memory-conformance: these shards are lacking: 3/3.\n"
    assert main(["report", f"{tmp_path}/all.json", "-q"]) == 0
