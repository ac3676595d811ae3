"""From what was sent to a list of calls that runs anywhere: what the provider made becomes a symbol (conformance.counterexample).

A string of a request is the provider's where it is an id, a digest, a cursor or a time that stood in an earlier answer and in no
request before. An edited export that was staged becomes a material, sealed anew on each provider.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.counterexample import DIGEST, Party, Said, shown_by
from conformance.exchange import CONTROL_PREFIX, Call, Reply
from conformance.histories import PRINCIPAL, PROVISION, Event, History, Introduced, introduced
from conformance.symbols import OWN_DIGESTS, is_own_digest, leaves, parts, since, symbolic
from conformance.wire.bundle import Bundle

HELLO = f"{CONTROL_PREFIX}hello"
CLOCK = f"{CONTROL_PREFIX}clock"
PARCELS = ("bundle", "chunk")
"""Members that hold a bundle or a chunk, in an answer and in a request."""
FARTHEST = 100 * 366 * 86_400
"""An instant so many seconds away from the start is one that the check worked out, a farther one is a constant."""
_MADE = re.compile(r"(?:^|_)(?:ids?|by|at|digests?|cursor)$")
_VERBATIM = frozenset({"content", "extensions", "structured"})


@dataclass(slots=True)
class Script:
    """Calls with symbols, and who makes them. ``started`` tells when the first space was made, if it must be known."""

    callers: list[Party] = field(default_factory=list)
    spaces: list[str] = field(default_factory=list)
    calls: list[Said] = field(default_factory=list)
    materials: dict[str, Any] = field(default_factory=dict)


class Writer:
    """Writes the script of what was sent. ``started`` is when the first space was made, "" where it is not known."""

    def __init__(self, bundle: Bundle, events: Sequence[Event], started: str = "") -> None:
        self._bundle = bundle
        self._started = started
        self._named: dict[str, str] = {}
        self._credentials: dict[str, str] = {}
        self._parties: dict[tuple[str, str | None], Party] = {}
        self._counts: dict[str, int] = {}
        self._own: set[str] = set()
        self._parcels: list[tuple[Any, str]] = []
        self._edited: dict[str, Mapping[str, Any]] = {}
        self.script = Script()
        for party in introduced(events):
            self._introduce(*party)
        together = 0
        for event in events:
            together += len(event.calls) > 1
            self._write(event, together if len(event.calls) > 1 else 0)
        self.script.materials = {symbol: self._material(value) for symbol, value in self._edited.items()}

    # -- who there is

    def _introduce(self, space_id: str, principal_id: str, credential: str) -> None:
        name = self._count("root") if space_id else self._count("p", plain=False)
        principal = f"${name}"
        space = f"${self._count('space')}" if space_id else ""
        if space_id:
            self.script.spaces.append(space)
            self._named[space_id] = space
        self._named[principal_id] = principal
        self._credentials[credential] = name
        self._parties[name, credential] = Party(name, principal, space, shown_by(name))
        self.script.callers.append(self._parties[name, credential])

    def _caller(self, call: Call) -> str:
        """Return the name of the party that shows the call's credential."""
        if call.credential in self._credentials:
            return self._credentials[call.credential]
        key = ("", call.credential)
        if key not in self._parties:
            self._parties[key] = Party(self._count("stranger"), "", "", self._shown(call.credential))
            self.script.callers.append(self._parties[key])
        return self._parties[key].name

    def _shown(self, credential: str | None) -> str | None:
        """Say what somebody shows without telling anybody's credential."""
        if credential is None:
            return None
        for known in sorted(self._credentials, key=len, reverse=True):
            if known in credential:
                return credential.replace(known, shown_by(self._credentials[known]))
        return credential

    def _count(self, kind: str, *, plain: bool = True) -> str:
        """Return the next name of a kind: record, record2 where ``plain``, else p1, p2."""
        number = self._counts[kind] = self._counts.get(kind, 0) + 1
        return kind if plain and number == 1 else f"{kind}{number}"

    # -- what is said

    def _write(self, event: Event, together: int) -> None:
        if event.calls[0].op in (PROVISION, PRINCIPAL, HELLO):
            return
        written = [self._said(call, reply, together) for call, reply in zip(event.calls, event.replies, strict=True)]
        self.script.calls += written
        for call in event.calls:
            self._own.update(leaf for _, leaf in leaves(call.payload) if isinstance(leaf, str) and leaf not in self._named)
        for number, reply in enumerate(event.replies, start=-len(written)):
            self.script.calls[number] = self._answered(self.script.calls[number], reply)

    def _said(self, call: Call, reply: Reply | None, together: int) -> Said:
        payload = self._symbolic(call)
        malformed = call.op not in self._bundle.operations or not self._bundle.request(call.op).accepts(call.payload)
        caller = "" if call.is_control else self._caller(call)
        flags = None if call.is_control else tuple(sorted(call.flags))
        answer = None if reply is None else reply.body()
        return Said(caller, call.op, payload, answer, {}, flags, together, malformed and not call.is_control)

    def _answered(self, said: Said, reply: Reply | None) -> Said:
        """Name what the provider made, wherever it stands in the answer."""
        if reply is None or reply.payload is None:
            return said
        names: dict[str, str] = {}
        for name in PARCELS:
            if isinstance(found := reply.payload.get(name), Mapping):
                self._parcels.append((found, self._new(name)))
                names[self._parcels[-1][1]] = f"/{name}"
        for pointer, leaf in leaves(reply.payload):
            if isinstance(leaf, str) and leaf not in self._own and _is_made(pointer):
                names.setdefault(self._named.get(leaf) or self._name(leaf, pointer, reply.payload), pointer)
        return replace(said, answer=symbolic(said.answer, self._named), names=names)

    def _name(self, leaf: str, pointer: str, answer: Any) -> str:
        symbol = self._named[leaf] = self._new(_kind(pointer, answer))
        return symbol

    def _new(self, kind: str) -> str:
        return f"${self._count(kind, plain=False)}"

    # -- symbols in a request

    def _symbolic(self, call: Call) -> Any:
        if call.op == CLOCK:
            return {name: self._instant(value) if name == "set" else value for name, value in call.payload.items()}
        if not isinstance(call.payload, Mapping):
            return symbolic(call.payload, self._named)
        payload = {name: self._parcel(name, value) for name, value in call.payload.items()}
        if isinstance(end := call.payload.get("expires_at"), str) and end not in self._named:
            payload["expires_at"] = self._instant(end)
        return payload

    def _instant(self, timestamp: Any) -> Any:
        """Say an instant by its distance from the start."""
        found = since(self._started, timestamp, FARTHEST) if self._started and isinstance(timestamp, str) else None
        return found or symbolic(timestamp, {})

    def _parcel(self, name: str, value: Any) -> Any:
        """Return a member of a request: a bundle or chunk as it came by its symbol, an edited one as a material."""
        if name not in PARCELS or not isinstance(value, Mapping):
            return symbolic(value, self._named)
        for known, symbol in self._parcels:
            if known == value:
                return symbol
        symbol = self._new(f"edited_{name}")
        self._parcels.append((value, symbol))
        self._edited[symbol] = value
        return symbol

    def _material(self, value: Mapping[str, Any]) -> Any:
        """Return an edited bundle or chunk: its digests are computed anew where they were right."""
        digests = {
            chunk["chunk_digest"]: f"{symbol}/chunk_digest"
            for symbol, chunk in self._edited.items()
            if chunk is not value and isinstance(chunk.get("chunk_digest"), str)
        }
        named = digests | self._named
        return {
            name: DIGEST if name in OWN_DIGESTS and is_own_digest(value, name) else symbolic(member, named)
            for name, member in value.items()
        }


def travels(script: Script, events: Sequence[Event], history: History) -> bool:
    """Say whether there are calls, and none names a space or a principal, or shows a credential, that other events made.

    These are this provider's alone, and another one would refuse whoever shows such a credential. What the script calls them does
    not tell: an answer of these events may have named such a space.
    """
    here = list(introduced(events))
    foreign = [party for party in history.parties if party not in here]
    calls = [call for event in events for call in event.calls]
    names = set(_ids(foreign)) - {"", *_ids(here)}
    credentials = {party.credential for party in foreign} - {party.credential for party in here}
    shown = {call.credential for call in calls if call.credential}
    return (
        bool(script.calls and script.spaces)
        and not any(secret in text for text in shown for secret in credentials)
        and not any(leaf in names for call in calls for leaf in _named(call) if isinstance(leaf, str))
    )


def _ids(parties: Sequence[Introduced]) -> Iterator[str]:
    for party in parties:
        yield from (party.space_id, party.principal_id)


def _named(call: Call) -> Iterator[Any]:
    """Give what a request names; bundles and chunks tell of spaces that need not be there."""
    payload = call.payload if isinstance(call.payload, Mapping) else {"": call.payload}
    for name, value in payload.items():
        if name not in PARCELS:
            yield from (leaf for _, leaf in leaves(value))


def _is_made(pointer: str) -> bool:
    """Say whether an answer's string is one that a provider makes, by the name of its member."""
    names = [part for part in parts(pointer) if not part.isdigit()]
    return bool(names) and _MADE.search(names[-1]) is not None and not _VERBATIM & set(names)


def _kind(pointer: str, answer: Any) -> str:
    """Return what to call a made string, by where it stands."""
    names = parts(pointer)
    last = next(name for name in reversed(names) if not name.isdigit())
    if names[:2] == ["receipt", "affected"] and last == "id":
        return str(answer["receipt"]["affected"][int(names[2])]["type"])
    if last.endswith("_at"):
        return "time"
    return re.sub(r"_(?:ids?|by|digests?)$|^next_", "", last) or last
