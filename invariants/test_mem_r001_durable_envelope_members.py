"""MEM-R001, durable envelope: an object holds what it was given, the members that only this run's contract has among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy

from conformance import scenes
from conformance.bench import Bench
from conformance.caller import made
from conformance.wire.bundle import Bundle, load
from conformance.world import World
from strategies.content import contents
from strategies.from_schema import from_schema

CONTENT = ("text", "structured", "cognition")
"""The members of a content that ``strategies.content`` makes; a contract may have more."""

MODELS: Mapping[str, tuple[str, str]] = {
    "subjects.ensure": ("subject", "Subject"),
    "grants.grant": ("grant", "MemoryGrant"),
    "capture": ("candidate", "MemoryCandidate"),
    "records.create": ("record", "RetainedRecord"),
}
"""Operation that makes an object -> what its receipt calls the object, and the object's model."""

KINDS: Mapping[str, str] = {"subjects.ensure": "test:thing", "capture": "note", "records.create": "note"}


def _members(bundle: Bundle, ref: str) -> dict[str, str]:
    """Return the members of a schema: name -> reference of the member's schema."""
    base = ref if "#" in ref else f"{ref}#"
    return {name: f"{base}/properties/{name}" for name in bundle.schema(ref)["properties"]}


def _strange(bundle: Bundle, members: Mapping[str, str]) -> SearchStrategy[dict[str, Any]]:
    """Draw some of the members by their schemas alone."""
    return st.fixed_dictionaries({}, optional={name: from_schema(bundle, ref) for name, ref in members.items()})


@given(data=st.data(), content=contents())
def test_a_content_comes_back_with_every_member(bench: Bench, data: DataObject, content: dict[str, Any]) -> None:
    """A content comes back as it was given, whatever members the contract gives it."""
    world = bench.world()
    members = _members(world.bundle, world.bundle.model_ref("ContentInput"))
    strange = {name: ref for name, ref in members.items() if name not in CONTENT}
    content = {**content, **data.draw(_strange(world.bundle, strange))}
    record_id, candidate_id = world.root.create(content=content), world.root.capture(content=content)
    world.same(content, world.root.read(record_id)["content"], "a record's content is not what was written")
    candidate = world.root.do("candidates.get", candidate_id=candidate_id)["candidate"]
    world.same(content, candidate["content"], "a candidate's content is not what was captured")
    world.root.do("records.update", record_id=record_id, expected_revision=1, content={"text": ""})
    world.root.do("records.update", record_id=record_id, expected_revision=2, content=content)
    world.same(content, world.root.read(record_id)["content"], "a record's content is not what an update wrote")


@given(data=st.data())
def test_an_object_keeps_what_its_request_says_of_it(bench: Bench, data: DataObject) -> None:
    """What a request says of the object that it makes stands in the object, under the same name."""
    world = bench.world()
    for stem, (_, title) in MODELS.items():
        op = world.operation(stem)
        ours = load().schema(load().request_ref(op))["properties"]
        taken = _members(world.bundle, world.bundle.request_ref(op))
        strange = {name: ref for name, ref in taken.items() if name not in ours}
        kind = {"kind": KINDS[stem]} if stem in KINDS else {}
        request = {**scenes.plain_request(world, stem), **kind, **data.draw(_strange(world.bundle, strange))}
        found = _made(world, stem, request)
        for name in _members(world.bundle, world.bundle.model_ref(title)):
            if name in request:
                world.same(_unordered(request[name]), _unordered(found.get(name)), f"{op}: the {title} has another {name}")


def _made(world: World, stem: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Send the request and read the object that it made."""
    kind = MODELS[stem][0]
    identity = made(world.root.do(stem, **request), kind)
    if stem == "grants.grant":
        return next((one for one in world.root.all("grants.list", view="admin") if one["grant_id"] == identity), {})
    found: Mapping[str, Any] = world.root.do(f"{kind}s.get", **{f"{kind}_id": identity})[kind]
    return found


def _unordered(value: Any) -> Any:
    """Leave the order of a list of names out: those of a grant are sets."""
    return sorted(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else value
