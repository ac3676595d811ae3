"""Counterexamples that tests send again: of a seeded fault, and made of it by a change."""

from __future__ import annotations

from typing import Any

from conformance.counterexample import Counterexample, Expectation, Kind, Party, Said, shown_by
from conformance.wire import bundle
from conformance.wire.vocabulary import Code, Flag

CONTRACT = bundle.load()
FLAGS = tuple(sorted(CONTRACT.flag(flag) for flag in Flag))
ROOT = Party("root", "$root", "$space", shown_by("root"))
FAULT = "python:tests.faults:r008_promote_changes_the_subject"
CREATED = {"receipt": {"state": "committed"}}


def refused(symbol: Code) -> dict[str, Any]:
    return {"error": {"code": CONTRACT.code(symbol), "message": "no"}}


def said(
    stem: str, key: str, answer: Any = None, *, names: dict[str, str] | None = None, by: str = "root", **members: Any
) -> Said:
    """Return one call: a mutation by its key, a read without."""
    keyed = {"idempotency_key": key} if key else {}
    return Said(by, f"memory.{stem}", {"space_id": "$space", **members, **keyed}, answer, names or {})


ENSURED = said("subjects.ensure", "k1", CREATED, subject_id="u1")
WRITTEN = said(
    "records.create",
    "k2",
    CREATED,
    names={"$record1": "/receipt/affected/0/id"},
    kind="note",
    content={"text": "it's $5, \\(a)"},
    scope={"subject_id": "u1"},
)
MOVED = said(
    "records.promote",
    "k3",
    CREATED,
    record_id="$record1",
    expected_revision=1,
    to_scope={"subject_id": "u2", "context_id": "c3"},
)
READ = said("records.get", "", {"record": {}}, record_id="$record1")


def example(*calls: Said, expectation: Expectation, **members: Any) -> Counterexample:
    """Return a counterexample of root's calls."""
    whole = {"rule": "MEM-R008", "what": "root was given what must be refused", "callers": (ROOT,), "spaces": ("$space",)}
    return Counterexample(calls=calls, expectation=expectation, flags=FLAGS, **{**whole, **members})


PROMOTED = example(ENSURED, WRITTEN, MOVED, expectation=Expectation(Kind.REFUSED, 2, (CONTRACT.code(Code.INVALID_VALUE),)))
"""What ``FAULT`` does wrong and the oracle does right."""
