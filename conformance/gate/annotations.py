"""The words of a schema that change nothing of what it accepts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.wire.documents import subschemas

WORDS = ("title", "description", "examples", "default", "$comment")


def notes(old: Any, new: Any) -> Iterator[str]:
    """Tell how two documents differ besides what they accept, a sentence for each sort of difference."""
    ours, theirs = dict(_words(old)), dict(_words(new))
    changed = [place for place in ours.keys() & theirs.keys() if ours[place] != theirs[place]]
    for verb, places in (("changed", changed), ("new", theirs.keys() - ours.keys()), ("gone", ours.keys() - theirs.keys())):
        if places:
            shown = ", ".join(sorted(f"{where or '/'} {word}" for where, word in places)[:3])
            yield f"{len(places)} annotations {verb}: {shown}{', …' if len(places) > 3 else ''}"
    if old != new and _bare(old) != _bare(new):
        yield "written otherwise"
    elif old == new and json.dumps(old) != json.dumps(new):
        yield "members in another order"


def _words(document: Any) -> Iterator[tuple[tuple[str, str], Any]]:
    for where, schema in subschemas(document):
        if isinstance(schema, Mapping):
            yield from (((where, word), schema[word]) for word in WORDS if word in schema)


def _bare(node: Any) -> Any:
    """Copy a schema without its words; what is named like one in ``properties`` stays."""
    if isinstance(node, list):
        return [_bare(one) for one in node]
    if not isinstance(node, Mapping):
        return node
    return {name: _named(value) if name in _MAPS else _bare(value) for name, value in node.items() if name not in WORDS}


def _named(members: Any) -> Any:
    return {name: _bare(member) for name, member in members.items()} if isinstance(members, Mapping) else members


_MAPS = ("properties", "patternProperties", "definitions", "dependencies")
