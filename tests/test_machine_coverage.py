"""What grants authorise, exactly."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.errors import SuiteFault
from conformance.machine import coverage
from conformance.machine.disagreement import Disagreement
from conformance.machine.stage import Stage
from tests.one_stage import fresh_stage, home

NOW = "2026-01-01T00:00:00Z"


@pytest.fixture
def stage() -> Stage:
    return fresh_stage()


# -- exact coverage

EVERYTHING = {
    "capabilities": ["recall", "review", "grants_issue"],
    "shared_access": "write",
    "created_at": NOW,
    "grantee_id": "root",
    "issuer_id": "root",
}


def _grant(**members: Any) -> dict[str, Any]:
    plain = {
        "capabilities": ["recall"],
        "shared_access": "none",
        "created_at": "2026-01-02T00:00:00Z",
        "grantee_id": "a",
        "issuer_id": "root",
    }
    return {**plain, **members}


@pytest.mark.parametrize(
    ("root", "child", "closed"),
    [
        ({}, {}, True),
        ({}, {"capabilities": ["admin"]}, False),
        ({"context_ids": ["c1"]}, {"context_ids": ["c1"]}, True),
        ({"context_ids": ["c1"]}, {"context_ids": ["c2"]}, False),
        ({"context_ids": ["c1"]}, {}, False),
        ({"subject_ids": ["u1"]}, {"subject_ids": ["u1", "u2"]}, False),
        ({"shared_access": "read"}, {"shared_access": "read"}, True),
        ({"shared_access": "read"}, {"shared_access": "write"}, False),
        ({"expires_at": NOW}, {"expires_at": "2025-01-01T00:00:00Z"}, True),
        ({"expires_at": NOW}, {"expires_at": "2026-01-01T00:00:00.001Z"}, False),
        ({"expires_at": NOW}, {}, False),
    ],
)
def test_no_chain_reaches_beyond_its_root(root: dict[str, Any], child: dict[str, Any], closed: bool) -> None:
    grants = [{**EVERYTHING, **root}, _grant(**child)]
    if closed:
        coverage.require_closed(grants, "root")
    else:
        with pytest.raises(Disagreement, match="R011"):
            coverage.require_closed(grants, "root")


def test_points_are_every_combination_of_a_grants_dimensions() -> None:
    grant = _grant(subject_ids=["u1", "u2"], context_ids=["c1"], shared_access="write")
    universe = coverage.Universe([grant])
    assert len(universe.points(grant)) == 1 * 2 * (1 + 2) * 1
    assert universe.points(_grant(subject_ids=["u1"], context_ids=["c1"])) < universe.points(grant)


def test_the_oracle_and_exact_coverage_agree_or_the_suite_is_at_fault(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    root = stage.roots[home(stage)].principal_id
    shape = {"capabilities": ["recall"], "shared_access": "none"}
    coverage.agree(stage.model, root, home(stage), shape)
    monkeypatch.setattr(coverage, "answered", lambda *_given: "refuse")
    with pytest.raises(SuiteFault, match="exact coverage refuse"):
        coverage.agree(stage.model, root, home(stage), shape)
