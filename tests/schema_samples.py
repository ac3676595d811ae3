"""Instances of the bundle's schemas for its own tests: valid ones by a small sampler, damaged ones by random edits.

This is deliberately not ``strategies``: the tests of the bundle must not lean on what is built upon it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from random import Random
from typing import Any

from conformance.wire.bundle import Bundle

_TRIES = 200
_TEXTS = ["", "a", "x" * 128, "x" * 129, "\U0001f600" * 128, "\U0001f600" * 129, "a\n", "world:place", "world:place\n"]
_ODD: list[Any] = [
    None, True, False, 0, 1, -1, 1.0, 5.0, 1.5, -0.0, 2**53, 2**64, 10**30, 1e300, math.inf, math.nan,
    [], {}, [[]], [None, None], {"a": {}}, {"a": 1}, {"A": {}}, {"a\n": {}}, {"text": ""}, {"text": "", "cognition": []},
    "2026-02-29T00:00:00Z", "2024-02-29T23:59:59.000Z", "2026-01-01T00:00:60Z", "2026-01-01t00:00:00Z",
    "2026-01-01T00:00:00+00:00",
    "0000-01-01T00:00:00Z", "2026-01-01T00:00:00.Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00Z\n", "f" * 64, "F" * 64,
    "f" * 64 + "\n", "\ud800", {"\ud800": {}}, "read", "revoked", "pending", "failed", "shared", "contexts", "fence", "subject",
]  # fmt: skip


def sample(bundle: Bundle, ref: str, random: Random) -> Any:
    """Draw a valid instance of the schema that ``ref`` names; conditions are met by drawing again."""
    for _ in range(_TRIES):
        drawn = _draw(bundle, {"$ref": ref}, random)
        if not bundle.validator(ref).problems(drawn):
            return drawn
    raise AssertionError(f"no valid instance of {ref} in {_TRIES} draws")


def _draw(bundle: Bundle, schema: Any, random: Random) -> Any:
    if "$ref" in schema:
        target = bundle.schema(schema["$ref"])
        return copy.deepcopy(random.choice(target["examples"])) if "examples" in target else _draw(bundle, target, random)
    for keyword in ("const", "enum", "oneOf"):
        if keyword in schema:
            return _chosen(bundle, schema, keyword, random)
    kind = schema.get("type", "string")
    return _BY_TYPE[random.choice(kind) if isinstance(kind, list) else kind](bundle, schema, random)


def _chosen(bundle: Bundle, schema: Any, keyword: str, random: Random) -> Any:
    if keyword == "const":
        return copy.deepcopy(schema["const"])
    one = random.choice(schema[keyword])
    return one if keyword == "enum" else _draw(bundle, one, random)


def _object(bundle: Bundle, schema: Any, random: Random) -> dict[str, Any]:
    required = schema.get("required", [])
    names = [name for name in schema.get("properties", {}) if name in required or random.random() < 0.5]
    return {name: _draw(bundle, schema["properties"][name], random) for name in names}


def _array(bundle: Bundle, schema: Any, random: Random) -> list[Any]:
    least = schema.get("minItems", 0)
    return [_draw(bundle, schema["items"], random) for _ in range(random.randint(least, least + 2))]


def _string(_bundle: Bundle, schema: Any, random: Random) -> str:
    if schema.get("format") == "date-time":
        day = f"20{random.randint(10, 99)}-0{random.randint(1, 9)}-{random.randint(10, 28)}"
        return f"{day}T0{random.randint(0, 9)}:00:59.{random.randint(0, 999)}Z"
    known = {"^[0-9a-f]{64}$": f"{random.getrandbits(256):064x}", "^[a-z][a-z0-9_-]*:[a-z][a-z0-9_.-]*$": "world:place.harbour"}
    return known.get(schema.get("pattern", ""), "x" * random.randint(schema.get("minLength", 0), 6))


def _integer(_bundle: Bundle, schema: Any, random: Random) -> Any:
    whole = schema.get("minimum", 0) + random.randint(0, 3)
    return random.choice([whole, float(whole)])


_BY_TYPE: dict[str, Any] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "boolean": lambda _bundle, _schema, random: random.random() < 0.5,
    "null": lambda _bundle, _schema, _random: None,
}


def damaged(value: Any, random: Random) -> Any:
    """Copy ``value`` with one to three random edits; often invalid, now and then still valid."""
    top = [copy.deepcopy(value)]
    for _ in range(random.randint(1, 3)):
        owner, place = random.choice(list(_places(top)))
        random.choice([_replace, _replace, _remove, _add, _repeat])(owner, place, random)
    return top[0] if top else None


def _places(owner: Any) -> Iterator[tuple[Any, Any]]:
    """Walk to every member and item: the container and the name or index in it."""
    for place in list(owner) if isinstance(owner, dict) else range(len(owner)):
        yield owner, place
        if isinstance(owner[place], (dict, list)):
            yield from _places(owner[place])


def _replace(owner: Any, place: Any, random: Random) -> None:
    owner[place] = copy.deepcopy(random.choice([*_ODD, *_TEXTS]))


def _remove(owner: Any, place: Any, random: Random) -> None:
    if isinstance(owner, dict):
        del owner[place]
    else:
        _replace(owner, place, random)


def _add(owner: Any, place: Any, random: Random) -> None:
    inner = owner[place]
    if isinstance(inner, dict):
        inner[random.choice(["unknown", "context_id", "context_ids", "error", "extensions", "outcome", "import_id"])] = (
            random.choice(_ODD)
        )
    elif isinstance(inner, list):
        inner.append(copy.deepcopy(random.choice(_ODD)))


def _repeat(owner: Any, place: Any, _random: Random) -> None:
    if isinstance(owner[place], list) and owner[place]:
        owner[place].append(copy.deepcopy(owner[place][0]))
