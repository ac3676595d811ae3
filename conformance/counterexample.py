"""A counterexample: the shortest list of calls that shows a broken rule, as a value that travels (``*.mem.json``).

Nothing in it belongs to one provider. What a provider makes (ids, digests, cursors, times) is a symbol: ``names`` of a call says
which members of its answer are called what, a later payload holds the symbol. ``$space`` and ``$root`` are there from the start.
A string of a payload that begins with ``$`` and is no symbol has one ``$`` more.
The form is reports/schema/counterexample.schema.json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from types import MappingProxyType
from typing import Any

FORMAT = 1
"""The number of the file format; a reader refuses another one."""

SUFFIX = ".mem.json"
DIGEST = "$digest"
"""As the own digest of a material: computed when everything else in it is known."""


def is_symbol(value: Any) -> bool:
    """Say whether a JSON value is a symbol."""
    return isinstance(value, str) and value.startswith("$") and not value.startswith("$$")


class Kind(StrEnum):
    """How the answer to a call is judged."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    FORM = "form"
    MEMBER = "member"
    ABSENT = "absent"
    FRESH = "fresh"
    AT_MOST = "at_most"
    HOLDS = "holds"
    LACKS = "lacks"
    SEALED = "sealed"
    ITEMS = "items"
    SAME = "same"
    ONE_COMMITS = "one_commits"
    CHECK = "check"


class Origin(StrEnum):
    """What found it."""

    RULE = "rule"
    MACHINE = "machine"
    FUZZ = "fuzz"


@dataclass(frozen=True, slots=True)
class Party:
    """A caller. ``principal`` is the symbol of its principal id, ``space`` that of the space whose root it is ("": of none).

    ``credential`` is what it shows: None for nothing, else a text in which ``${name}`` is the credential of the party ``name``.
    """

    name: str
    principal: str
    space: str = ""
    credential: str | None = None


def shown_by(name: str) -> str:
    """Return how the credential of the party ``name`` is written."""
    return f"${{{name}}}"


@dataclass(frozen=True, slots=True)
class Said:
    """One call: ``answer`` is what the target said when it was found (symbolic; None for nothing).

    ``names`` maps symbols to JSON pointers into the answer. ``flags`` are those negotiated, None for all that the file names.
    Neighbours with the same ``together`` above 0 are sent at the same time. ``malformed``: it breaks its schema on purpose.
    ``also`` is the outcome (an error code, "" for success) that a right provider was seen to give instead, where it is another.
    """

    caller: str
    op: str
    payload: Any
    answer: Any = None
    names: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] | None = None
    together: int = 0
    malformed: bool = False
    also: str | None = None


@dataclass(frozen=True, slots=True)
class Expectation:
    """What must be so, judged from the answers alone; ``call`` is the number of the call, from 0.

    A part ``[record_id=$record1]`` of a pointer is the item of a list with that member.

    - ``accepted``: it succeeds; ``refused``: with one of ``codes``.
    - ``form``: the answer is of the contract's form (schema, code, retry class).
    - ``member``: the member at ``pointer`` is ``value``; ``absent``: there is none; ``fresh``: it stands in no earlier answer;
      ``at_most``: it is a number, or a list so long, of ``value`` at most; ``holds``: it is a list with ``value`` in it;
      ``lacks``: without; ``sealed``: it is the digest of the rest of the object that it is in.
    - ``items``: the list at ``pointer`` holds exactly ``value``, in any order; told by their member ``by``, where given.
    - ``same``: the member at ``pointer`` is that of the call ``other``.
    - ``one_commits``: exactly one of ``calls`` succeeds.
    - ``check``: the check that found it passes (where it cannot be judged from these calls).
    """

    kind: Kind
    call: int = 0
    codes: tuple[str, ...] = ()
    pointer: str = ""
    value: Any = None
    by: str = ""
    other: int = 0
    calls: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Counterexample:
    """What was found. ``what`` says in a sentence what broke, ``sentence`` what the check looks at.

    ``flags`` and ``controls`` are what a target must offer so that the calls can be sent. ``failed`` of ``runs`` repetitions
    showed it again. ``oracle`` names the provider on which the expectation was seen to hold. ``materials`` are named values,
    export bundles and chunks above all, that payloads name by their symbol. ``seed`` and ``profile`` repeat the check.
    ``unreduced`` says what stopped its being made short, "" where nothing did.
    """

    rule: str
    what: str
    calls: tuple[Said, ...]
    expectation: Expectation
    callers: tuple[Party, ...] = ()
    spaces: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    materials: Mapping[str, Any] = field(default_factory=dict)
    check: str = ""
    sentence: str = ""
    origin: Origin = Origin.RULE
    seen: Any = None
    runs: int = 0
    failed: int = 0
    oracle: str = ""
    suite: str = ""
    seed: int = 0
    profile: str = ""
    unreduced: str = ""

    @property
    def flaky(self) -> bool:
        """Say whether some repetition did not show it."""
        return self.failed < self.runs

    @property
    def setting(self) -> int:
        """How many of the calls only give out the grants that it needs."""
        return sum(said.op in GRANTING for said in self.calls[: self.expectation.call])

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Counterexample:
        """Build it from ``to_json``'s object. Raises ``ValueError`` for another format."""
        if value.get("format") != FORMAT:
            raise ValueError(f"a counterexample of format {value.get('format')!r}; this suite reads {FORMAT}")
        given: dict[str, Any] = {name: _tuple(found) for name, found in value.items() if name != "format"}
        given["calls"] = tuple(_said(call) for call in value["calls"])
        given["callers"] = tuple(Party(**{"principal": "", **party}) for party in value.get("callers", ()))
        given["expectation"] = _expectation(value["expectation"])
        given["origin"] = Origin(value.get("origin", Origin.RULE))
        given["seen"] = value.get("seen")
        return cls(**given)

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object, without what is as it is by default."""
        return {
            "format": FORMAT,
            **_told(self),
            "callers": [_told(party) | {"credential": party.credential} for party in self.callers],
            "calls": [_told_call(said) for said in self.calls],
            "expectation": _told(self.expectation) | _pinned(self.expectation),
        }


GRANTING = frozenset({"memory.grants.grant"})


def _told(value: Any) -> dict[str, Any]:
    """Return the members of a dataclass that are not as by default, in JSON's types."""
    told: dict[str, Any] = {}
    for each in fields(value):
        member = getattr(value, each.name)
        if member not in (None, "", 0, (), False) and member != {}:
            told[each.name] = _json(member)
    return told


def _told_call(said: Said) -> dict[str, Any]:
    flags = {} if said.flags is None else {"flags": list(said.flags)}
    also = {} if said.also is None else {"also": said.also}
    return _told(said) | flags | also | {"payload": said.payload, "answer": said.answer}


def _json(member: Any) -> Any:
    match member:
        case StrEnum():
            return str(member)
        case tuple():
            return list(member)
        case Mapping():
            return dict(member)
        case _:
            return member


def _pinned(expectation: Expectation) -> dict[str, Any]:
    """Return the members that an expectation of its kind always tells."""
    return {name: _json(getattr(expectation, name)) for name in PINNED[expectation.kind]}


PINNED: Mapping[Kind, Sequence[str]] = MappingProxyType(
    {
        Kind.ACCEPTED: ("call",),
        Kind.REFUSED: ("call", "codes"),
        Kind.FORM: ("call",),
        Kind.MEMBER: ("call", "pointer", "value"),
        Kind.ABSENT: ("call", "pointer"),
        Kind.FRESH: ("call", "pointer"),
        Kind.AT_MOST: ("call", "pointer", "value"),
        Kind.HOLDS: ("call", "pointer", "value"),
        Kind.LACKS: ("call", "pointer", "value"),
        Kind.SEALED: ("call", "pointer"),
        Kind.ITEMS: ("call", "pointer", "value"),
        Kind.SAME: ("call", "pointer", "other"),
        Kind.ONE_COMMITS: ("call", "calls"),
        Kind.CHECK: ("call",),
    }
)
"""The members that an expectation of a kind has always."""


def _tuple(found: Any) -> Any:
    return tuple(found) if isinstance(found, list) else found


def _said(value: Mapping[str, Any]) -> Said:
    flags = value.get("flags")
    return Said(**{"caller": "", **value, "flags": None if flags is None else tuple(flags)})


def _expectation(value: Mapping[str, Any]) -> Expectation:
    tuples = {name: tuple(value[name]) for name in ("codes", "calls") if name in value}
    return Expectation(**{**value, **tuples, "kind": Kind(value["kind"])})
