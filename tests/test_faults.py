"""The seeded faults as a collection: named, sourced, and usable in plain ways (rules.md, Seeded faults; field-bugs.md)."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import Any

import pytest

from conformance.catalogue import rules
from conformance.exchange import Call
from conformance.kill_matrix import EVERY_RULE, Cell, Matrix, Outcome
from conformance.target import open_target
from conformance.transport.in_process import InProcess
from conformance.wire import bundle
from conformance.wire.vocabulary import Flag
from tests import variants
from tests.faults import BY_NAME, FAULTS
from tests.seeded.fault import Fault

LISTED = {
    "R001": 3, "R002": 3, "R003": 3, "R004": 3, "R005": 4, "R006": 4, "R007": 4, "R008": 3, "R009": 4, "R010": 5, "R011": 6,
    "R012": 5, "R013": 5, "R014": 8, "R015": 4, "R016": 6, "R017": 3, "R018": 6, "R019": 3, "R020": 5, "R021": 7, "R022": 6,
    "R023": 5, "R024": 7, "R025": 6, "R026": 7, "R027": 10,
}  # fmt: skip
"""How many faults rules.md lists under each rule."""

FLAGS = frozenset(bundle.load().flag(flag) for flag in Flag)


def test_names_are_unique_identifiers_and_say_their_rule() -> None:
    assert len(BY_NAME) == len(FAULTS)
    for fault in FAULTS:
        assert fault.name.isidentifier()
        assert fault.rule in rules()
        assert fault.name.startswith((fault.rule.removeprefix("MEM-").lower(), f"{fault.source.lower()}_"))
        assert len(fault.sentence) > 15, fault.name


def test_every_fault_that_the_rules_list_is_there() -> None:
    counted = Counter(fault.rule.removeprefix("MEM-") for fault in FAULTS if fault.source == "rules.md")
    assert {rule: number for rule, number in LISTED.items() if counted[rule] < number} == {}


def test_every_field_bug_is_there_and_twenty_of_our_own() -> None:
    sources = Counter(fault.source for fault in FAULTS)
    assert [f"F{number:02d}" for number in range(1, 29) if not sources[f"F{number:02d}"]] == []
    assert sources["ours"] >= 20


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_plain_usage_of_a_faulty_provider_works(fault: Fault) -> None:
    with closing(InProcess(fault.make())) as shim:
        home = shim.send(Call("control.provision", {})).payload

        def ask(op: str, **members: object) -> Any:
            payload = {"space_id": home["space_id"], **members}
            reply = shim.send(Call(f"memory.{op}", payload, home["root"]["credential"], FLAGS))
            assert reply.ok, reply.error
            return reply.payload

        scope = {"subject_id": "u1", "context_id": "c1"}
        ask("subjects.ensure", idempotency_key="k1", subject_id="u1")
        ask("records.create", idempotency_key="k2", kind="note", content={"text": "hello"}, scope=scope)
        ask("capture", idempotency_key="k3", kind="note", content={"text": "perhaps"}, scope=scope)
        everything = {"subject_id": "u1", "mode": "all_authorized"}
        assert ask("records.list", selection=everything)["records"]
        assert ask("candidates.list", selection=everything)["candidates"]
        assert ask("recall", selection=everything, budget={"max_records": 5})["records"]


def cell(name: str, rule: str, outcome: Outcome) -> Cell:
    return Cell(name, rule, outcome)


def test_the_bars_of_the_matrix() -> None:
    cells = (
        cell("fault", "MEM-R001", Outcome.KILLED),
        cell("fault", "MEM-R002", Outcome.SURVIVED),
        cell("missed", "MEM-R001", Outcome.SURVIVED),
        cell("crashed", "MEM-R001", Outcome.BROKEN),
        cell("right", "MEM-R001", Outcome.SURVIVED),
        cell("wronged", "MEM-R001", Outcome.KILLED),
        cell("control", "MEM-R001", Outcome.KILLED),
        cell("control", "MEM-R002", Outcome.SURVIVED),
    )
    own: dict[str, str | None] = dict.fromkeys(("fault", "missed", "crashed"), "MEM-R001")
    matrix = Matrix(cells, {**own, "right": None, "wronged": None, "control": EVERY_RULE}, seed=0, profile="quick")
    assert [(miss.name, miss.rule) for miss in matrix.misses()] == [
        ("missed", "MEM-R001"),
        ("crashed", "MEM-R001"),
        ("wronged", "MEM-R001"),
        ("control", "MEM-R002"),
    ]
    assert len(matrix.to_json()["misses"]) == 4


@pytest.mark.parametrize("name", variants.NAMES)
def test_every_permitted_variant_is_a_target(name: str) -> None:
    """A variant that bears the name of something else in its module would be no provider."""
    opener = open_target(f"python:tests.variants:{name}", bundle=bundle.load())
    with closing(opener):
        assert opener.open().facts.flags == FLAGS
