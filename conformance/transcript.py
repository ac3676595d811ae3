"""What a caller was told, in forms that can be compared (rule MEM-R013: no trace of what the caller may not see).

``Names`` renames ids and wipes times and what else is the provider's own, so that the answers of two worlds with equal visible
histories become equal.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.wire import canonical

VERBATIM = frozenset({"content", "selection", "filter", "cognition_filter"})
"""Members whose inside is the caller's own material: nothing in them is an id or a time of the provider's."""
UNORDERED = frozenset(
    {
        "records",
        "candidates",
        "grants",
        "spaces",
        "profiles",
        "documents",
        "fenced_context_ids",
        "missing_kinds",
        "missing_required_kinds",
    }
)
"""Members whose order is the provider's (protocol.md section 7, Lists; section 3, Reflection)."""
OWN = frozenset({"message", "classification", "text", "authority_generation", "extensions"})
"""Members whose value is the provider's own or a fact of the whole space: they may differ between like worlds."""


PRINCIPALS = frozenset({"principal_id", "grantee_id", "issuer_id"})


def kind_of(member: str) -> str:
    """Name the kind of object whose id stands in a member: ``record`` for ``record_id`` and ``record_ids``."""
    if member in PRINCIPALS or member.endswith("_by"):
        return "principal"
    return member.removesuffix("s").removesuffix("_id").removeprefix("source_")


class Names:
    """The names of one world: what is called otherwise in a like world is called the same here.

    An id names an object of its kind alone: a record and a candidate may have one id.
    """

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        self._digests: dict[str, str] = {}

    def call(self, kind: str, plain: str, actual: str) -> str:
        """Call the object of this kind and id ``plain`` from now on; return the id."""
        self._names[kind, actual] = plain
        return actual

    def plain(self, value: Any, member: str = "") -> Any:
        """Return an answer with ids renamed, times and the provider's own words wiped, and lists without order sorted."""
        if member in VERBATIM:
            return value
        if isinstance(value, Mapping):
            known = {name: inner for name, inner in value.items() if name not in OWN}
            return {name: self.plain(inner, f"{value['type']}_id" if name == "id" else name) for name, inner in known.items()}
        if isinstance(value, list):
            plain = [self.plain(inner, member) for inner in value]
            return sorted(plain, key=canonical.canonical) if member in UNORDERED else plain
        return self._scalar(value, member) if isinstance(value, str) else value

    def _scalar(self, value: str, member: str) -> str:
        if member.endswith("_at"):
            return "(time)"
        if member in ("next_cursor", "payload_digest"):
            return f"({member})"
        if member.endswith("digest"):
            return self._digests.setdefault(value, f"(digest {len(self._digests)})")
        if member.endswith(("_id", "_ids", "_by")):
            plain = self._names.get((kind_of(member), value))
            return "(id)" if plain is None else f"${plain}"
        return value

    def inside(self, value: Any) -> Any:
        """Return a text, or an error's details, without the ids that are known and stand in it as whole words."""
        if isinstance(value, Mapping):
            return {name: self.inside(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.inside(inner) for inner in value]
        return self._renamed(value) if isinstance(value, str) else value

    def _renamed(self, text: str) -> str:
        for actual in sorted({actual for _, actual in self._names}, key=len, reverse=True):
            if actual in text:
                text = re.sub(rf"(?<!\w){re.escape(actual)}(?!\w)", "(known)", text)
        return text


def numbers(token: str) -> list[str]:
    """Return the decimal numbers that can be read in an opaque token, as it is and as base64 text."""
    return [number for text in (token, *_decoded(token)) for number in re.findall(r"(?<![0-9A-Za-z])\d+(?![0-9A-Za-z])", text)]


def _decoded(token: str) -> Sequence[str]:
    for alphabet in (base64.urlsafe_b64decode, base64.b64decode):
        try:
            text = alphabet(token + "=" * (-len(token) % 4)).decode("ascii")
        except (binascii.Error, ValueError):
            continue
        if text.isprintable():
            return [text]
    return []
