"""Content on its way in: cognition records and byte admission (protocol.md section 3 Content, section 6 items 5 and 8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc
from conformance.oracle.turn import Turn
from conformance.wire import canonical
from conformance.wire.bundle import Bundle
from conformance.wire.vocabulary import Code, Field, Reason


def carried(request: Doc) -> Iterator[Doc]:
    """Give every content that a request carries: its own, a review's override, the fragments of a review."""
    if "content" in request:
        yield request["content"]
    decision = request.get("decision", {})
    if "content_override" in decision:
        yield decision["content_override"]
    for fragment in decision.get("fragments", ()):
        yield fragment["content"]


def is_cognition(bundle: Bundle, cognition: Any) -> bool:
    """Say whether a present ``cognition`` member is an array of complete, closed records; the empty array is."""
    return isinstance(cognition, list) and all(is_cognition_record(bundle, entry) for entry in cognition)


def is_cognition_record(bundle: Bundle, entry: Any) -> bool:
    """Say whether one entry is a cognition record."""
    return bundle.model("CognitionRecord").accepts(entry)


def refuse_malformed_cognition(bundle: Bundle, request: Doc) -> None:
    """Refuse a request that carries a malformed cognition record anywhere, always with the same field name."""
    for content in carried(request):
        if "cognition" in content and not is_cognition(bundle, content["cognition"]):
            raise malformed_cognition(bundle)


def malformed_cognition(bundle: Bundle) -> Refusal:
    """Make the refusal of a malformed cognition record."""
    field, reason = bundle.field(Field.COGNITION), bundle.reason(Reason.BAD_COGNITION_RECORD)
    return Refusal(Code.INVALID_VALUE, field=field, reason=reason)


def measure(content: Doc) -> int:
    """Count the bytes of a content, every present member included."""
    return canonical.content_bytes(content)


def refuse_oversized(turn: Turn, *contents: Doc) -> None:
    """Refuse content above ``max_content_bytes``, each content for itself."""
    for content in contents:
        if measure(content) > turn.choices.limits.max_content_bytes:
            raise Refusal(Code.LIMIT_EXCEEDED)
