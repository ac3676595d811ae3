"""A caller with little in view, and all that it can ask (rule MEM-R013: nothing it is told carries a trace of the rest).

``LOOKERS`` are the kinds of limited caller, each with the placements hidden from it. ``STAGES`` build what all of them may see
something of; between two stages a hidden history can go on (``conformance.backstage``). ``asks`` is the whole questionnaire and
``answered`` an answer as it is, ``told`` the same answer up to renaming.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance import scenes
from conformance.caller import Caller, made
from conformance.exchange import Reply
from conformance.transcript import Names
from conformance.wire import canonical
from conformance.wire.vocabulary import Flag
from conformance.world import World

Members = dict[str, Any]
Place = tuple[str, str | None]
"""A subject and a context (None: the subject's shared placement), by their plain names."""

HERE: Place = ("u1", "c1")
"""The placement that is in view."""
QUERY = "amber fox river delta"
WORDS = ("amber fox river", "amber owl stone", "birch fox stone", "birch owl river")
"""Texts of the same length: the first fits ``QUERY`` best, the others share one word each, so little decides their order."""

LATER = {"recorded_after": "2024-01-02T00:00:00Z"}
"""A cognition filter that some of the contents meet, whichever dimensions a provider serves."""
READING = ("records_read", "recall", "review", "reflections_read")


@dataclass(frozen=True)
class Looker:
    """A kind of limited caller: the request members of its grants, by plain names, and the placements hidden from it."""

    grants: tuple[Members, ...]
    hidden: tuple[Place, ...] = (("u1", "c2"), ("u1", None), ("u2", "c1"))


def _over(*capabilities: str, **members: Any) -> Members:
    here = {"subject_ids": ["u1"], "context_ids": ["c1"], "shared_access": "none", **members}
    return {"capabilities": list(capabilities), **{name: value for name, value in here.items() if value is not None}}


LOOKERS: Mapping[str, Looker] = {
    "reader": Looker((_over(*READING, "subjects_read", "profile_read"),)),
    "reader by two grants": Looker((_over(*READING[::2]), _over(*READING[1::2], context_ids=["c1", "c9"]))),
    "reader of every context": Looker((_over(*READING, context_ids=None),), (("u1", None), ("u2", "c1"))),
    "reader of what is shared": Looker((_over(*READING, shared_access="read"),), (("u1", "c2"), ("u2", None), ("u2", "c1"))),
    "reader of every subject": Looker((_over(*READING[:2], subject_ids=None),), (("u1", "c2"), ("u2", "c2"), ("u2", None))),
    "writer": Looker((_over("records_write", "capture", "subjects_write"),)),
    "curator": Looker((_over("review", "records_write"),)),
    "issuer": Looker((_over("grants_issue", "recall", "records_read"),)),
    "bystander": Looker((_over("recall", "admin", subject_ids=["nobody"], context_ids=["nowhere"]),)),
}


GROUPS: Sequence[tuple[str, ...]] = (
    ("reader", "reader by two grants", "writer", "curator", "issuer", "bystander"),
    ("reader of every context",),
    ("reader of what is shared",),
    ("reader of every subject",),
)
"""The kinds of limited caller, those together from whom the same is hidden."""


@dataclass
class Sight:
    """A limited caller in a world: what it may see, and what the world calls what was made in view."""

    world: World
    looker: Looker
    caller: Caller
    names: Names
    made: dict[str, str] = field(default_factory=dict)
    keys: int = 0

    def call(self, kind: str, plain: str, actual: str) -> str:
        """Remember an object in view under a plain name."""
        self.made[plain] = self.names.call(kind, plain, actual)
        return actual

    def key(self) -> str:
        """Return the next idempotency key of the limited caller: the same ones in like worlds."""
        self.keys += 1
        return self.world.name(f"look-{self.keys}")


KNOWN = (*(("subject", name) for name in ("u1", "u2", "nobody")), *(("context", name) for name in ("c1", "c2", "c3", "nowhere")))
"""What is named without being made."""


def arrive(world: World, *kinds: str) -> list[Sight]:
    """Bring limited callers without grants yet into a world; what is made in view is in view of all."""
    names, made = Names(), dict[str, str]()
    for kind, plain in KNOWN:
        names.call(kind, plain, world.name(plain))
    names.call("space", "space", world.space_id)
    names.call("principal", "root", world.root.principal_id)
    return [Sight(world, LOOKERS[kind], _named(world, names, kind), names, made) for kind in kinds]


def _named(world: World, names: Names, kind: str) -> Caller:
    caller = world.stranger(kind)
    names.call("principal", kind, caller.principal_id)
    return caller


# -- what is in view


def content(number: int) -> Members:
    """Return content number ``number``: all have the same content bytes, so that budgets do not depend on which is taken."""
    entry = {
        "view": "recorded_at",
        "dimension": ("belief", "desire")[number % 2],
        "value": "it is so",
        "attribution": {"holder_id": "h"},
        "basis": {"kind": "stated", "refs": []},
        "time": {"recorded_at": f"2024-01-0{1 + number % 9}T00:00:00Z"},
    }
    return {"text": WORDS[number % len(WORDS)], "cognition": [entry]}


def _records(sights: Sequence[Sight]) -> None:
    sight = sights[0]
    scope = sight.world.scope(*HERE)
    for number in range(3):
        sight.call("record", f"record {number}", sight.world.root.create(scope=scope, content=content(number)))


def _candidates(sights: Sequence[Sight]) -> None:
    sight = sights[0]
    root, scope = sight.world.root, sight.world.scope(*HERE)
    pending, consumed = (root.capture(scope=scope, content=content(number), source_context_id="src") for number in (3, 0))
    sight.call("candidate", "candidate", pending)
    sight.call("candidate", "consumed", consumed)
    promote = {"candidate_id": consumed, "expected_revision": 1, "decision": {"action": "promote"}}
    sight.call("record", "reviewed", made(root.do("candidates.review", **promote), "record"))


def _tombstone(sights: Sequence[Sight]) -> None:
    sight = sights[0]
    gone = sight.call("record", "tombstone", sight.world.root.create(scope=sight.world.scope(*HERE), content=content(1)))
    sight.world.root.do("records.delete", record_id=gone, expected_revision=1)


def _reflection(sights: Sequence[Sight]) -> None:
    sight, world = sights[0], sights[0].world
    subject_id = world.scope(*HERE)["subject_id"]
    scenes.complete_profile(world, subject_id)
    if world.bundle.flag(Flag.REFLECTION) in world.root.flags:
        receipt = world.root.do("reflections.generate", selection=scenes.selection(world.scope(*HERE)))
        sight.call("reflection", "reflection", made(receipt, "reflection"))


def _grants(sights: Sequence[Sight]) -> None:
    for sight in sights:
        for number, members in enumerate(sight.looker.grants):
            salted = {name: [sight.world.name(one) for one in value] for name, value in members.items() if name.endswith("_ids")}
            grant_id = sight.world.root.grant(sight.caller, **{**members, **salted})
            sight.call("grant", f"grant {number} of {sight.caller.name}", grant_id)


STAGES: Sequence[Callable[[Sequence[Sight]], None]] = (_records, _candidates, _grants, _tombstone, _reflection)


# -- what can be asked


@dataclass(frozen=True)
class Ask:
    """A request that changes nothing for whoever may see it. ``limits`` follows its cursor chain, ``partial`` cuts it short."""

    stem: str
    members: Members
    limits: tuple[int, ...] = ()
    partial: bool = False


def selections(world: World, subject: str) -> list[Members]:
    """Return selections of every mode over a subject, of what is in view, of what is not and of both."""
    subject_id, here, there = world.name(subject), world.name("c1"), world.name("c2")
    named = [("contexts", [here]), ("contexts", [here, there]), ("contexts", [there]), ("contexts_and_shared", [here])]
    return [
        {"subject_id": subject_id, "mode": "all_authorized"},
        {"subject_id": subject_id, "mode": "shared"},
        *({"subject_id": subject_id, "mode": mode, "context_ids": contexts} for mode, contexts in named),
    ]


def asks(sight: Sight) -> list[Ask]:
    """Return the questionnaire: every read, over what is in view and what is not."""
    world = sight.world
    chosen = [*selections(world, "u1"), *selections(world, "u2")[:3]]
    found = [Ask("describe", {}), Ask("spaces.list", {}), *_lists(world, chosen), *_recalls(chosen), *_single(sight)]
    # In a shared space a principal may still see the revoked grants of an earlier check.
    views = ("admin",) if world.shared else ("own", "admin")
    found += [Ask("grants.list", {"view": view}, limits) for view in views for limits in ((1,), (3,))]
    served = {operation.stem for operation in scenes.served(world)}
    return [ask for ask in found if ask.stem in served and _cognition_served(world, ask)]


def _cognition_served(world: World, ask: Ask) -> bool:
    return "cognition_filter" not in ask.members or world.bundle.flag(Flag.COGNITION) in world.root.flags


def _lists(world: World, chosen: Sequence[Members]) -> list[Ask]:
    everything, here = chosen[0], chosen[2]
    found = [Ask(stem, {"selection": one}, (2,)) for one in chosen for stem in ("records.list", "candidates.list")]
    for one in (everything, here):
        found += [Ask("records.list", {"selection": one, "include_tombstones": True}, limits) for limits in ((1,), (3, 1, 2))]
        found.append(Ask("records.list", {"selection": one, "cognition_filter": LATER}, (1,)))
        found.append(Ask("records.list", {"selection": one, "filter": {"sources": ["review"]}}, (1,)))
        found.append(Ask("records.list", {"selection": one, "filter": {"source_context_ids": ["src", world.name("c2")]}}, (3,)))
        found.append(Ask("candidates.list", {"selection": one, "states": ["pending"]}, (1,)))
    for one in chosen:
        found += [Ask("reflections.state", {"selection": one}), Ask("reflections.list", {"selection": one}, (1,))]
    return found


def _recalls(chosen: Sequence[Members]) -> list[Ask]:
    size = canonical.content_bytes(content(0))
    query = {"text": QUERY}
    found = [Ask("recall", {"selection": one, "budget": {"max_records": 100}, "query": query}) for one in chosen]
    budgets = [{"max_records": number} for number in (1, 4)] + [{"max_bytes": most} for most in (size, 4 * size - 1, 4 * size)]
    for budget in budgets:
        found += [Ask("recall", {"selection": one, "budget": budget}, partial=True) for one in (chosen[0], chosen[2])]
    found.append(Ask("recall", {"selection": chosen[0], "budget": {"max_records": 2}, "query": query}, partial=True))
    filters: Sequence[Members] = ({"filter": {"sources": ["review"]}}, {"cognition_filter": LATER})
    budget = {"max_records": 100, "max_bytes": 100 * size}
    found += [Ask("recall", {"selection": chosen[0], "budget": budget, **members}) for members in filters]
    return found


def _single(sight: Sight) -> list[Ask]:
    world = sight.world
    found = [Ask("subjects.get", {"subject_id": world.name(name)}) for name in ("u1", "u2", "nobody")]
    found += [Ask("profile.get", {"subject_id": world.name(name)}) for name in ("u1", "u2")]
    found += [Ask("records.get", {"record_id": sight.made[name]}) for name in ("record 0", "reviewed", "tombstone")]
    found += [Ask("candidates.get", {"candidate_id": sight.made[name]}) for name in ("candidate", "consumed")]
    found += [Ask("exports.get", {"export_id": "no-such-export", "ordinal": 0}), Ask("receipts.get", {"receipt_id": "no-such"})]
    return found


# -- the answers


@dataclass(frozen=True)
class Answer:
    """What came: the answer as it is, and the cursors that its chain went by."""

    said: Any
    cursors: tuple[str, ...] = ()


def answered(sight: Sight, ask: Ask) -> Answer:
    """Ask, follow the chain of pages to its end, and leave out what is a fact of the whole space (protocol.md section 3)."""
    if not ask.limits:
        return Answer(_said(ask, sight.caller.send(ask.stem, **ask.members)))
    reply = sight.caller.send(ask.stem, **ask.members, page={"limit": ask.limits[0]})
    if not reply.ok:
        return Answer(_said(ask, reply))
    pages, cursors, chain = [_said(ask, reply)], [], sight.caller.chain(ask.stem)
    while (cursor := chain.cursor(reply.payload)) is not None:
        cursors.append(cursor)
        limit = ask.limits[min(len(cursors), len(ask.limits) - 1)]
        reply = sight.caller.send(ask.stem, **ask.members, page={"cursor": cursor, "limit": limit})
        sight.world.expect(reply.ok, f"{ask.stem}: a cursor died although nothing had changed", seen=reply.error)
        pages.append(_said(ask, reply))
    return Answer({"pages": pages}, tuple(cursors))


def _said(ask: Ask, reply: Reply) -> Any:
    if reply.error is not None:
        return {"code": reply.code, "details": dict(reply.error.get("details") or {})}
    if ask.stem == "spaces.list":
        return {"space_ids": [space["space_id"] for space in reply.payload["spaces"]]}
    return {name: value for name, value in reply.payload.items() if name not in ("next_cursor", "extensions")}


def told(sight: Sight, ask: Ask, answer: Answer) -> Any:
    """Return an answer up to renaming of ids and times, and up to the order that is the provider's."""
    said = answer.said
    if "code" in said:
        return {"code": said["code"], "details": sight.names.inside(said["details"])}
    if "pages" in said:
        lists = sight.world.bundle.operations[sight.world.operation(ask.stem)].lists or ""
        items = [item for page in said["pages"] for item in page[lists]]
        totals = [page.get("total_authorized") for page in said["pages"]]
        return {"sizes": [len(page[lists]) for page in said["pages"]], "totals": totals, **sight.names.plain({lists: items})}
    if ask.partial and "records" in said:
        said = {**said, "records": len(said["records"])}
    return sight.names.plain(said)
