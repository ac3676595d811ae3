"""Which types two bundles have, and who relies on each of them.

Requests are sent: what old clients send has to be accepted. Answers are read: old readers have to understand them. Durable
models are stored and exported: what is stored has to stay valid. A part plays the roles of all that it is a part of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.gate.outcome import Role
from conformance.gate.sides import Ground, Side
from conformance.wire.bundle import Bundle
from strategies.schema_source import Located, SchemaSource

ENVELOPE = ("schema_version", "extensions")
"""What every durable object carries (protocol.md section 3)."""


@dataclass(frozen=True)
class Kin:
    """A type of either bundle or both: the references are those of the bundles, None where one has it not."""

    title: str
    old: str | None
    new: str | None


def types(old: Bundle, new: Bundle) -> Iterator[Kin]:
    """List the types: requests and answers by their operations, all others, and those of other operations, by their titles."""
    ours, theirs = dict(_typed(old)), dict(_typed(new))
    for one, other, documents in ((ours, theirs, old.documents), (theirs, ours, new.documents)):
        for name in [name for name in one if name not in other]:
            title = str(documents[one[name]].get("title", one[name]))
            if title in other and title not in one:
                one[title] = one.pop(name)
    for name in dict.fromkeys([*ours, *theirs]):
        refs = ours.get(name), theirs.get(name)
        document = new.documents[refs[1]] if refs[1] else old.documents[refs[0] or ""]
        yield Kin(str(document.get("title", refs[1] or refs[0])), *refs)


def _typed(bundle: Bundle) -> Iterator[tuple[str, str]]:
    of_ops: dict[str, str] = {}
    for op in bundle.operations:
        of_ops[bundle.request_ref(op)] = f"{op} request"
        of_ops[bundle.response_ref(op)] = f"{op} response"
    for identity, document in bundle.documents.items():
        if says_something(document):
            yield of_ops.get(identity, str(document.get("title", identity))), identity


def says_something(document: Mapping[str, Any]) -> bool:
    """Say whether a document is a type of its own, and no mere shelf of definitions."""
    return bool(set(document) - {"$schema", "$id", "$comment", "title", "description", "definitions", "examples", "default"})


def durable(bundle: Bundle) -> tuple[str, ...]:
    """List the references of the durable models: documents that no operation has, with an envelope."""
    of_ops = {ref for op in bundle.operations for ref in (bundle.request_ref(op), bundle.response_ref(op))}
    return tuple(
        identity
        for identity, document in bundle.documents.items()
        if identity not in of_ops and set(ENVELOPE) <= set(document.get("properties", {}))
    )


def roles(bundle: Bundle, side: Side, ground: Ground) -> Mapping[str, tuple[Role, ...]]:
    """Tell the roles of every schema that is referred to: this side's reference -> roles."""
    roots = {
        Role.SENT: [bundle.request_ref(op) for op in bundle.operations],
        Role.READ: [bundle.response_ref(op) for op in bundle.operations],
        Role.STORED: list(durable(bundle)),
    }
    reached = {role: _reached(ground.source, [side.ref(ref) for ref in refs]) for role, refs in roots.items()}
    everything = {where for wheres in reached.values() for where in wheres}
    return {where: tuple(role for role in Role if where in reached[role]) for where in everything}


def _reached(source: SchemaSource, refs: Iterable[str]) -> set[str]:
    seen: set[str] = set()
    todo = [source.at(ref) for ref in refs]
    while todo:
        at = todo.pop()
        if at.where not in seen:
            seen.add(at.where)
            todo += _referred(source, at)
    return {where.removesuffix("#") for where in seen}


def _referred(source: SchemaSource, at: Located) -> Iterator[Located]:
    if at.has("$ref"):
        yield source.follow(at)
    else:
        for inner in at.subschemas():
            yield from _referred(source, inner)
