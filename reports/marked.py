"""JSON values as HTML: readable text with one member marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup, escape

from reports.calls import escaped
from reports.words import as_json

LONGEST_TEXT = 600
MOST_MEMBERS = 60
LONGEST_WHOLE = 12_000
_INLINE = 60
_STEP = "  "


def marked(value: Any, pointer: str = "", *, mark: bool = False) -> Markup:
    """Return ``value`` as HTML text; where ``mark`` is set, the member at the JSON ``pointer`` ("": all of it) is marked.

    A member that is not there is marked at the nearest one around it that is. What is very long is cut, and says so.
    """
    target = _nearest(value, pointer) if mark else None
    text = Markup("").join(_value(value, "", "", target))
    if len(text) <= LONGEST_WHOLE:
        return text
    return Markup('{}<span class="cut">… {} characters in all</span>').format(as_json(value)[:LONGEST_WHOLE], len(text))


def _nearest(value: Any, pointer: str) -> str:
    """Return the longest beginning of a pointer that leads somewhere in ``value``."""
    reached = ""
    for name in pointer.split("/")[1:]:
        inside = _members(value)
        if name not in inside:
            break
        value, reached = inside[name], f"{reached}/{name}"
    return reached


def _members(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return {escaped(str(name)): inner for name, inner in value.items()}
    return {str(index): inner for index, inner in enumerate(value)} if isinstance(value, list) else {}


def _value(value: Any, indent: str, pointer: str, target: str | None) -> Iterator[Markup]:
    if target == pointer:
        yield Markup("<mark>") if pointer else Markup('<mark class="whole">')
    if isinstance(value, Mapping | list) and value:
        yield from _inside(value, indent, pointer, target)
    else:
        yield _text(value)
    if target == pointer:
        yield Markup("</mark>")


def _inside(value: Mapping[str, Any] | list[Any], indent: str, pointer: str, target: str | None) -> Iterator[Markup]:
    opening, closing = "{}" if isinstance(value, Mapping) else "[]"
    if target is None or not target.startswith(f"{pointer}/"):
        whole = as_json(value)
        if len(whole) <= _INLINE:
            yield escape(whole)
            return
    yield escape(opening)
    inner = indent + _STEP
    for number, (name, member) in enumerate(_members(value).items()):
        yield escape(("\n" if number == 0 else ",\n") + inner)
        if number == MOST_MEMBERS:
            yield Markup('<span class="cut">… {} more</span>').format(len(value) - number)
            break
        if isinstance(value, Mapping):
            yield Markup('<span class="name">{}</span>: ').format(as_json(list(value)[number]))
        yield from _value(member, inner, f"{pointer}/{name}", target)
    yield Markup("\n{}{}").format(indent, closing)


def _text(value: Any) -> Markup:
    text = as_json(value)
    if len(text) <= LONGEST_TEXT:
        return escape(text)
    return Markup('{}<span class="cut">… {} characters</span>').format(text[:LONGEST_TEXT], len(text))
