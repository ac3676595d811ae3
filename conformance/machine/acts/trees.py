"""A chain of issuance, built and tried link by link: what is handed on is narrower, and then wider in exactly one dimension.

Root gives somebody an issuing grant that is bounded in every dimension; they hand on a narrower one; who has that tries what
only the first one covers, what the two cover together, and what lies just beyond the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.machine import coverage, draws
from conformance.machine.duo import Actor
from conformance.machine.stage import Stage
from conformance.oracle.state import Doc
from strategies.timestamps import shifted
from strategies.vocabulary import capabilities

TRIES = 4
DIMENSIONS = ("capabilities", "subject_ids", "context_ids", "shared_access", "expires_at")


def chain(stage: Stage) -> None:
    """Issue along a chain of two, and try the edges of both links."""
    space_id = stage.space_id()
    root = stage.roots[space_id]
    one, two, three = stage.random.sample(stage.people, 3)
    first = _bounded(stage)
    _issue(stage, space_id, root, one, first)
    second = _within(stage, first)
    _issue(stage, space_id, one, two, second)
    for _ in range(TRIES):
        issuer, own = stage.pick(((one, first), (two, second)))
        shape = stage.pick(EDGES)(stage, own, first)
        _issue(stage, space_id, issuer, stage.pick((one, two, three)), shape)


def _bounded(stage: Stage) -> Doc:
    """Draw a shape that has a bound in most dimensions, and may issue."""
    some = stage.some(list(capabilities(stage.model.bundle)), 5)
    made: dict[str, Any] = {"capabilities": list(dict.fromkeys((*some, draws.ISSUE)))}
    made["shared_access"] = stage.pick(("none", "read", "write"))
    if stage.chance(0.6):
        made["subject_ids"] = stage.some(stage.names.subjects, 3)
    if stage.chance(0.6):
        made["context_ids"] = stage.some(stage.names.contexts, 3)
    if stage.chance(0.7):
        made["expires_at"] = _end(stage)
    return made


def _end(stage: Stage) -> str:
    if not stage.sight.timed:
        return stage.pick(("9998-01-01T00:00:00Z", "9998-01-01T00:00:00.0001Z"))
    return draws.fraction(stage, f"{shifted(stage.model.now, stage.pick((60, 3600, 90_000)))[:19]}Z")


def _within(stage: Stage, shape: Doc) -> Doc:
    """Draw what the shape covers, and may issue too: fewer names, less sharing, sooner."""
    made = dict(shape)
    made["capabilities"] = list(dict.fromkeys((*stage.some(shape["capabilities"], 3), draws.ISSUE)))
    for member, names in (("subject_ids", stage.names.subjects), ("context_ids", stage.names.contexts)):
        if stage.chance(0.5):
            made[member] = stage.some(shape.get(member, names), 2)
    if stage.chance(0.5):
        made["shared_access"] = "none" if shape["shared_access"] == "none" else stage.pick(("none", "read"))
    if "expires_at" in shape and stage.chance(0.5):
        made["expires_at"] = draws.fraction(stage, f"{shifted(shape['expires_at'], -20)[:19]}Z")
    return made


def _issue(stage: Stage, space_id: str, issuer: Actor, grantee: Actor, shape: Doc) -> None:
    if stage.chance(0.1):
        coverage.agree(stage.model, issuer.principal_id, space_id, shape)
    stage.ask(issuer, "grants.grant", space_id, grantee_id=grantee.principal_id, **shape)


# -- edges


def _as_it_is(_stage: Stage, own: Doc, _first: Doc) -> Doc:
    return own


def _as_the_first(_stage: Stage, _own: Doc, first: Doc) -> Doc:
    return first


def _one_of_the_first(stage: Stage, own: Doc, first: Doc) -> Doc:
    """Take one dimension from the first grant of the chain."""
    member = stage.pick(DIMENSIONS)
    made = {name: value for name, value in own.items() if name != member}
    return {**made, member: first[member]} if member in first else made


def _wider(stage: Stage, own: Doc, _first: Doc) -> Doc:
    return stage.pick(draws.WIDER)(stage, own)


def _at_the_end(stage: Stage, own: Doc, _first: Doc) -> Doc:
    """End exactly with it in another spelling, or a hair later or sooner, or never."""
    end = own.get("expires_at")
    if end is None:
        return own
    seconds, fraction = end[:19], end[20:-1]
    # A hair is less than a milli-, a micro- or a nanosecond: a provider may round to any of these.
    hairs = (fraction.ljust(digits, "0") + "1" for digits in (3, 6, 9))
    spelt = [f"{seconds}.{part}Z" for part in (f"{fraction}0", *hairs)]
    if not fraction.strip("0"):
        spelt.append(f"{seconds}Z")
    made = {name: value for name, value in own.items() if name != "expires_at"}
    return made if stage.chance(0.2) else {**made, "expires_at": stage.pick(spelt)}


EDGES: tuple[Callable[[Stage, Doc, Doc], Doc], ...] = (
    _as_it_is, _as_the_first, _one_of_the_first, _one_of_the_first, _wider, _wider, _at_the_end, _at_the_end,
)  # fmt: skip
