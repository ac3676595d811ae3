"""A stage of the machine on the bundled oracle, and what its root does there."""

from __future__ import annotations

from random import Random
from typing import Any

from conformance.bench import Bench
from conformance.exchange import Reply
from conformance.machine.judging import Judged
from conformance.machine.model import Asked
from conformance.machine.stage import Stage
from conformance.target import open_target
from conformance.wire.bundle import load

SCOPE = {"subject_id": "u1", "context_id": "c1"}
WHOLE = {"subject_id": "u1", "mode": "all_authorized"}


def fresh_stage() -> Stage:
    """Return a stage on an oracle of its own."""
    bundle = load()
    opened = open_target("oracle", bundle=bundle).open()
    return Stage(Bench(opened.shim, bundle, opened.facts), Random(1))


def home(stage: Stage) -> str:
    return stage.space_ids[0]


def by_root(stage: Stage, stem: str, **members: Any) -> Reply:
    return stage.ask(stage.roots[home(stage)], stem, home(stage), **members)


def created(stage: Stage, **members: Any) -> str:
    by_root(stage, "subjects.ensure", subject_id="u1")
    given = {"kind": "note", "content": {"text": "a"}, "scope": {"subject_id": "u1", "context_id": "c1"}, **members}
    return str(by_root(stage, "records.create", **given).payload["receipt"]["affected"][0]["id"])


def confined(stage: Stage, *capabilities: str) -> Any:
    """Give somebody who holds capabilities in one context of one subject alone."""
    person = stage.people[0]
    place = {"subject_ids": ["u1"], "context_ids": ["c1"], "shared_access": "none"}
    by_root(stage, "grants.grant", grantee_id=person.principal_id, capabilities=list(capabilities), **place)
    return person


def exported(stage: Stage) -> tuple[Any, Any]:
    export_id = by_root(stage, "exports.create", max_items_per_chunk=1).payload["receipt"]["affected"][0]["id"]
    stage.parcels.fetch(stage.roots[home(stage)], home(stage), export_id)
    export = stage.space(home(stage)).exports.rows[export_id].doc
    return export["bundle"], export["chunks"]


def judged_of(stage: Stage, seen: Reply, stem: str, **members: Any) -> Judged:
    root = stage.roots[home(stage)]
    request = stage.request(stem, home(stage), members)
    return stage.duo.judge.judge(stage.model.state, Asked(root.principal_id, f"memory.{stem}", request), seen)
