"""Every duty of the reference page is mapped to checks that exist, or excluded with a reason; none is open."""

from __future__ import annotations

from conformance.catalogue import rules
from conformance.modules import listed, modules_of
from conformance.traceability import Standing, duties

CHECKS = {check.check_id for rule in rules().values() for check in listed(rule)}


def test_no_duty_is_open() -> None:
    assert [duty.key for duty in duties() if duty.standing is Standing.OPEN] == []


def test_keys_are_unique_and_exclusions_say_why() -> None:
    keys = [duty.key for duty in duties()]
    assert len(set(keys)) == len(keys) > 100
    assert all(len(duty.excluded) > 40 for duty in duties() if duty.standing is Standing.EXCLUDED)
    assert not [duty.key for duty in duties() if duty.checks and duty.excluded]


def test_mapped_checks_exist_and_every_rule_stands_for_some_duty() -> None:
    mapped = {check for duty in duties() for check in duty.checks}
    assert sorted(mapped - CHECKS) == []
    assert {check.partition(".")[0] for check in mapped} == set(rules())


def test_every_rule_has_a_module_whose_checks_say_what_they_promise() -> None:
    for rule in rules().values():
        assert modules_of(rule)
        for path in modules_of(rule):
            assert path.stem.startswith(f"test_mem_{rule.short.lower()}_{rule.slug}")
        assert all(check.sentence.endswith((".", ":")) for check in listed(rule)), rule.rule_id
