"""Pages of a list: the union of a chain is the model's whole list, and a cursor lives and dies as it must (section 7, Lists)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Any

from conformance.exchange import Reply
from conformance.machine import blames, freedom
from conformance.machine.comparison import Comparator
from conformance.machine.disagreement import Disagreement, Kind
from conformance.machine.duo import Actor, Duo
from conformance.machine.judging import member_differs
from conformance.machine.model import Asked
from conformance.oracle import cursors
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.wire.bundle import instant
from conformance.wire.canonical import canonical
from conformance.wire.vocabulary import Code

Mark = list[Any]
Looked = tuple[str, Sequence[Space]]
"""When a mark was taken, and of which spaces."""

COMPUTED = frozenset({"stale"})
"""Members that are computed at a read: whether their change is one of the item is not said."""


@dataclass(slots=True, eq=False)
class Chain:
    """A cursor chain: whose it is, what was asked, which items came, and the latest ``cursor`` ("" at the beginning and end).

    Two chains are two, however alike.

    ``dead``: the cursor must not work any more; ``doubtful``: it may have died.
    """

    actor: Actor
    op: str
    request: Doc
    taken: dict[str, None] = field(default_factory=dict)
    cursor: str = ""
    mark: Mark = field(default_factory=list)
    looked: Looked = ("", ())
    versions: tuple[int, ...] = ()
    dead: bool = False
    doubtful: bool = False
    latest: str = ""


class Chains:
    """The chains of an episode. ``open`` are those that can go on."""

    def __init__(self, duo: Duo) -> None:
        self._duo = duo
        self._model = duo.model
        self.open: list[Chain] = []
        self._order: dict[bytes, tuple[list[Any], list[str]]] = {}

    # -- sending

    def page(self, chain: Chain, page: Mapping[str, Any]) -> Reply:
        """Ask for the next page of a chain (its first, while it has no cursor) and judge it."""
        self.age()
        cursor = {"cursor": chain.cursor} if chain.cursor else {}
        whole = {**page, **cursor}
        request = {**chain.request, "page": whole} if whole else chain.request
        seen = self._duo.exchange(chain.actor, chain.op, request)
        self._judge(chain, Asked(chain.actor.principal_id, chain.op, request), whole, seen)
        if self._duo.watch is not None:
            self._duo.watch(Asked(chain.actor.principal_id, chain.op, request), seen, self._model.state)
        return seen

    def misuse(self, actor: Actor, op: str, request: Doc, cursor: str) -> Reply:
        """Show a cursor to another caller, operation or request, or a made-up one: it is ``CURSOR_INVALID`` there."""
        sent = {**request, "page": {"cursor": cursor}}
        seen = self._duo.exchange(actor, op, sent)
        asked = Asked(actor.principal_id, op, sent)
        listed = self._model.listing(self._model.state, asked)
        refusal = listed if isinstance(listed, Refusal) else Refusal(Code.CURSOR_INVALID)
        if seen.error is None:
            raise Disagreement("R022", op, Kind.ACCEPTED, reason="a foreign cursor", seen=seen.payload)
        code = self._model.bundle.symbol(str(seen.code))
        if code is not Code.CURSOR_INVALID:
            self._refused(asked, seen, refusal)
        return seen

    def age(self) -> None:
        """Note which cursors have died, or may have, by what was committed since they were given out."""
        for chain in self.open:
            self._aged(chain)
        self.open = [chain for chain in self.open if chain.cursor]

    def restarted(self) -> None:
        """Note that whether a cursor outlives a restart is left to the provider."""
        for chain in self.open:
            chain.doubtful = True

    def _aged(self, chain: Chain) -> None:
        if not chain.cursor or chain.dead:
            return
        chain.doubtful = chain.doubtful or self._versions() != chain.versions
        looked = self._look(chain)
        if not _is_same_look(looked, chain.looked):
            chain.dead, chain.looked = self._mark(chain) != chain.mark, looked

    def _versions(self) -> tuple[int, ...]:
        return tuple(space.version for space in self._model.state.spaces.values())

    def _look(self, chain: Chain) -> Looked:
        return self._model.now, self._spaces(chain)

    def _mark(self, chain: Chain) -> Mark:
        """Give what a cursor must not outlive: the caller's effective grants, the unfiltered items, state and generation."""
        request = {name: value for name, value in chain.request.items() if name not in ("filter", "cognition_filter")}
        listed = self._model.listing(self._model.state, Asked(chain.actor.principal_id, chain.op, request))
        if isinstance(listed, Refusal):
            return []
        items = [{name: value for name, value in item.items() if name not in COMPUTED} for item in listed]
        return [items, [self._rights(chain, space) for space in self._spaces(chain)]]

    def _spaces(self, chain: Chain) -> list[Space]:
        spaces = self._model.state.spaces
        return [spaces[chain.request["space_id"]]] if "space_id" in chain.request else list(spaces.values())

    def _rights(self, chain: Chain, space: Space) -> list[Any]:
        turn = self._model.turn(chain.actor.principal_id, chain.op, space)
        facts = [space.facts[name] for name in ("state", "authority_generation")]
        return [facts, cursors.own_grants([{**grant, "effective": True} for grant in turn.grants])]

    # -- judging

    def _judge(self, chain: Chain, asked: Asked, page: Mapping[str, Any], seen: Reply) -> None:
        listed = self._model.listing(self._model.state, asked)
        if isinstance(listed, Refusal):
            self._refused(asked, seen, listed)
            chain.cursor = ""
        elif page.get("limit", 1) > self._model.described["limits"]["max_page"]:
            self._refused(asked, seen, Refusal(Code.LIMIT_EXCEEDED), also=chain.dead or chain.doubtful)
        elif chain.cursor and seen.error is not None:
            self._died(chain, asked, seen)
        elif chain.dead:
            raise Disagreement("R022", asked.op, Kind.ACCEPTED, reason="a cursor that had to die", seen=seen.payload)
        else:
            self._listed(chain, asked, page, seen, listed)

    def _refused(self, asked: Asked, seen: Reply, refusal: Refusal, *, also: bool = False) -> None:
        code = self._model.bundle.symbol(str(seen.code))
        if seen.error is None:
            told = self._model.bundle.answered(refusal.symbol).code
            raise Disagreement(blames.of_code(asked.op, refusal.symbol), asked.op, Kind.ACCEPTED, reason=told, seen=seen.payload)
        if code is Code.CURSOR_INVALID and (also or "cursor" in asked.request.get("page", {})):
            return
        found = self._duo.judge.refusal(self._model.state, asked, seen, refusal)
        if found is not None:
            raise found

    def _died(self, chain: Chain, asked: Asked, seen: Reply) -> None:
        """Judge a refused cursor: it must have been dead, or may have been."""
        chain.cursor = ""
        code = self._model.bundle.symbol(str(seen.code))
        is_other = code is not Code.CURSOR_INVALID and Code.CURSOR_INVALID in self._model.bundle.errors
        if is_other or not (chain.dead or chain.doubtful):
            raise Disagreement("R022", asked.op, Kind.REFUSED, reason=f"a living cursor: {seen.code}", seen=seen.error)

    def _listed(self, chain: Chain, asked: Asked, page: Mapping[str, Any], seen: Reply, listed: list[Doc]) -> None:
        op = asked.op
        if seen.error is not None:
            code = self._model.bundle.symbol(str(seen.code))
            raise Disagreement(blames.of_code(op, code), op, Kind.REFUSED, reason=str(seen.code), seen=seen.error)
        key, comparator = freedom.ITEMS[str(self._model.bundle.operations[op].lists)]
        items: list[Doc] = seen.payload[str(self._model.bundle.operations[op].lists)]
        whole = {str(doc[key]): doc for doc in listed}
        self._items(chain, op, key, comparator, items, whole)
        self._counts(chain, op, page, seen.payload, items, whole)
        self._ordered(chain, asked, [str(doc[key]) for doc in items], items, whole)
        self._go_on(chain, seen.payload)

    def _items(self, chain: Chain, op: str, key: str, comparator: Comparator, items: list[Doc], whole: Mapping[str, Doc]) -> None:
        for item in items:
            name = str(item[key])
            if name not in whole:
                raise Disagreement(self._of_stranger(op), op, Kind.MEMBER, reason="an item that is not listed", seen=item)
            if name in chain.taken:
                raise Disagreement("R022", op, Kind.MEMBER, reason="an item twice", seen=item)
            found = comparator(self._duo.sight, whole[name], item, f"/{name}")
            if found is not None:
                raise member_differs(op, found, whole[name])
            chain.taken[name] = None

    def _of_stranger(self, op: str) -> str:
        return {"memory.records.list": "R010", "memory.candidates.list": "R018", "memory.spaces.list": "R012"}.get(
            op, blames.of_operation(op)
        )

    def _counts(
        self, chain: Chain, op: str, page: Mapping[str, Any], payload: Doc, items: list[Doc], whole: Mapping[str, Doc]
    ) -> None:
        if payload.get("total_authorized", len(whole)) != len(whole):
            raise Disagreement(
                "R022", op, Kind.MEMBER, reason="total_authorized", expected=len(whole), seen=payload["total_authorized"],
                pointer="/total_authorized",
            )  # fmt: skip
        lacking = [name for name in whole if name not in chain.taken]
        if ("next_cursor" in payload) != bool(lacking):
            reason = "an item is lacking" if lacking else "goes on after the last item"
            raise Disagreement("R022", op, Kind.MEMBER, reason=reason, expected=lacking, seen=payload.get("next_cursor"))
        if len(items) > page.get("limit", self._model.described["limits"]["max_page"]):
            raise Disagreement("R022", op, Kind.MEMBER, reason="above the limit", expected=page, seen=len(items))
        if "next_cursor" in payload and not items:
            raise Disagreement("R022", op, Kind.MEMBER, reason="an empty page that goes on", expected=lacking, seen=items)

    def _ordered(self, chain: Chain, asked: Asked, names: list[str], items: list[Doc], whole: Mapping[str, Doc]) -> None:
        if asked.op == "memory.reflections.list":
            self._newest_first(chain, asked.op, items)
        if chain.cursor:
            return
        # The same request in the same visible state begins with the same items, however long its page. An activation puts other
        # items in the place of all, if alike ones, and may order them anew.
        asking = canonical([asked.caller, asked.op, chain.request])
        space = self._model.state.spaces.get(chain.request.get("space_id", ""))
        state = [whole, None if space is None else space.facts["authority_generation"]]
        known, before = self._order.get(asking, ([], []))
        self._order[asking] = (state, names)
        shorter = min(len(before), len(names))
        if known == state and before[:shorter] != names[:shorter]:
            raise Disagreement("R022", asked.op, Kind.MEMBER, reason="another order", expected=before, seen=names)

    def _newest_first(self, chain: Chain, op: str, items: list[Doc]) -> None:
        for item in items:
            made = instant(item["created_at"])
            if chain.latest and made > instant(chain.latest):
                raise Disagreement(
                    "R026", op, Kind.MEMBER, reason="not newest first", expected=chain.latest, seen=item["created_at"]
                )
            chain.latest = item["created_at"]

    def _go_on(self, chain: Chain, payload: Doc) -> None:
        chain.cursor = payload.get("next_cursor", "")
        chain.mark, chain.looked, chain.versions, chain.doubtful = [], ("", ()), (), False
        if chain.cursor:
            chain.mark, chain.looked, chain.versions = self._mark(chain), self._look(chain), self._versions()
            if chain not in self.open:
                self.open.append(chain)


def _is_same_look(one: Looked, other: Looked) -> bool:
    """Say whether nothing can have changed between two looks: a space that is changed is another object."""
    (now, spaces), (then, before) = one, other
    return now == then and len(spaces) == len(before) and all(map(is_, spaces, before))
