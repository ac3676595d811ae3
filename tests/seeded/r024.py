"""Faults that MEM-R024 (recorded cognition) must catch."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from typing import Any

from conformance.oracle import Choices, candidates, contents, profiles, records, reviews, store
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Turn
from conformance.wire import canonical
from conformance.wire.bundle import Bundle
from conformance.wire.vocabulary import Code
from tests.seeded.fault import Fault, Patch, Patched, Provider, patched

RULE = "MEM-R024"
Change = Callable[[Doc], Doc]


# -- what is stored


def _kept_as(change: Change) -> tuple[Patch, ...]:
    """Store another content than the one that came, in every record and candidate."""

    def added(original: Any) -> Any:
        return lambda turn, space, kind, content, *rest, **more: original(turn, space, kind, change(content), *rest, **more)

    def updated(original: Any) -> Any:
        def given(request: Doc) -> Doc:
            found: Doc = original(request)
            return {**found, "content": change(found["content"])} if "content" in found else found

        return given

    def made(original: Any) -> Any:
        def make(turn: Turn, space: Space, request: Doc, candidate_id: str) -> Doc:
            candidate: Doc = original(turn, space, request, candidate_id)
            return {**candidate, "content": change(candidate["content"])}

        return make

    return Patch(records, "added", added), Patch(records, "updated", updated), Patch(candidates, "make", made)


def _without_empty(content: Doc) -> Doc:
    return {name: value for name, value in content.items() if (name, value) != ("cognition", [])}


def _with_empty(content: Doc) -> Doc:
    return {"cognition": [], **content}


def _entries(change: Change) -> Change:
    """Change each cognition entry of a content."""

    def changed(content: Doc) -> Doc:
        return {**content, **({"cognition": [change(one) for one in content["cognition"]]} if "cognition" in content else {})}

    return changed


def _without_repeats(content: Doc) -> Doc:
    if "cognition" not in content:
        return content
    distinct = {json.dumps(one, sort_keys=True): one for one in content["cognition"]}
    return {**content, "cognition": list(distinct.values())}


def _sorted(content: Doc) -> Doc:
    if "cognition" not in content:
        return content
    return {**content, "cognition": sorted(content["cognition"], key=lambda one: str(one["time"]["recorded_at"]), reverse=True)}


def _millis(entry: Doc) -> Doc:
    """Keep times to the millisecond."""

    def cut(text: str) -> str:
        seconds, dot, digits = text.removesuffix("Z").partition(".")
        return f"{seconds}{dot}{digits[:3]}Z"

    return {**entry, "time": {name: cut(text) for name, text in entry["time"].items()}}


def _short(entry: Doc) -> Doc:
    """Write times without trailing zeros."""

    def cut(text: str) -> str:
        seconds, _, digits = text.removesuffix("Z").partition(".")
        digits = digits.rstrip("0")
        return f"{seconds}.{digits}Z" if digits else f"{seconds}Z"

    return {**entry, "time": {name: cut(text) for name, text in entry["time"].items()}}


def _unique_refs(entry: Doc) -> Doc:
    return {**entry, "basis": {**entry["basis"], "refs": list(dict.fromkeys(entry["basis"]["refs"]))}}


def _unasserted(entry: Doc) -> Doc:
    return {**entry, "attribution": {"holder_id": entry["attribution"]["holder_id"]}}


def _looks_recorded(value: Any) -> bool:
    return isinstance(value, dict) and {"view", "dimension", "attribution", "basis", "time"} <= set(value)


def _promoted(content: Doc) -> Doc:
    """Take a structured value that looks like a cognition record for one."""
    found: Any = content.get("structured")
    found = found.get("cognition") if isinstance(found, dict) and "cognition" in found else found
    listed = found if isinstance(found, list) else [found]
    recorded = [one for one in listed if _looks_recorded(one) and one.get("view") == "recorded_at" and "value" in one]
    return {**content, "cognition": recorded} if recorded and not content.get("cognition") else content


def _composed(content: Doc) -> Doc:
    return {**content, "text": unicodedata.normalize("NFC", content["text"])}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(member) for member in value] if isinstance(value, list) else value


def _without_empties(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_empties(member) for name, member in value.items() if member not in ({}, [])}
    return value


def _as_text(value: Any) -> Any:
    """Keep nested values as texts."""
    if not isinstance(value, dict):
        return value
    return {name: json.dumps(member) if isinstance(member, (dict, list)) else member for name, member in value.items()}


def _structured(change: Callable[[Any], Any]) -> tuple[Patch, ...]:
    def changed(content: Doc) -> Doc:
        return {**content, "structured": change(content["structured"])} if "structured" in content else content

    return _kept_as(changed)


def _profiles_structured(change: Callable[[Any], Any]) -> Patch:
    def wrap(original: Any) -> Any:
        def written(turn: Turn, request: Doc) -> Doc:
            content = request["content"]
            given = {**content, "structured": change(content["structured"])} if "structured" in content else content
            return dict(original(turn, {**request, "content": given}))

        return written

    return Patch(profiles, "written", wrap)


def _extensions(change: Callable[[Any], Any]) -> Patch:
    def wrap(original: Any) -> Any:
        def added(
            turn: Turn, space: Space, kind: str, content: Doc, scope: Doc, provenance: Doc, extensions: Doc, **more: Any
        ) -> Any:
            kept = {name: change(value) for name, value in extensions.items()}
            return original(turn, space, kind, content, scope, provenance, kept, **more)

        return added

    return Patch(records, "added", wrap)


def _pinned_types() -> Provider:
    """Make a provider that takes each member of ``structured`` with the type alone that came first."""
    types: dict[str, str] = {}

    def wrap(original: Any) -> Any:
        def refuse(turn: Turn, *given: Doc) -> None:
            original(turn, *given)
            for content in given:
                found = content.get("structured")
                for name, value in found.items() if isinstance(found, dict) else ():
                    if types.setdefault(name, type(value).__name__) != type(value).__name__:
                        raise Refusal(Code.INVALID_VALUE)

        return refuse

    return Patched([Patch(contents, "refuse_oversized", wrap)])


# -- what is checked and counted


def _carrying(drop: Callable[[Doc], Doc]) -> Patch:
    """Check the cognition of a request as if parts of it were not there."""

    def wrap(original: Any) -> Any:
        def refuse(bundle: Bundle, request: Doc) -> None:
            original(bundle, drop(request))

        return refuse

    return Patch(contents, "refuse_malformed_cognition", wrap)


def _without_override(request: Doc) -> Doc:
    decision = {name: value for name, value in request.get("decision", {}).items() if name != "content_override"}
    return {**request, "decision": decision}


def _first_fragment_alone(request: Doc) -> Doc:
    decision = request.get("decision", {})
    return {**request, "decision": {**decision, "fragments": decision.get("fragments", [])[:1]}}


def _unless_update(request: Doc) -> Doc:
    return {} if "record_id" in request else request


def _unless_capture(request: Doc) -> Doc:
    return {} if "scope" in request and "kind" in request and "candidate_id" not in request else request


def _bytes_first(original: Any) -> Any:
    """Measure before records are checked."""

    def refuse(bundle: Bundle, request: Doc) -> None:
        for content in contents.carried(request):
            if contents.measure(content) > Choices().limits.max_content_bytes:
                raise Refusal(Code.LIMIT_EXCEEDED)
        original(bundle, request)

    return refuse


def _judged(change: Callable[[Any], Any]) -> Patch:
    """Judge an entry by what a change makes of it."""
    return Patch(contents, "is_cognition_record", lambda original: lambda bundle, entry: original(bundle, change(entry)))


KNOWN = ("view", "dimension", "value", "attribution", "basis", "time")


def _trimmed(entry: Any) -> Any:
    return {name: value for name, value in entry.items() if name in KNOWN} if isinstance(entry, dict) else entry


def _with_view(entry: Any) -> Any:
    return {"view": "recorded_at", **entry} if isinstance(entry, dict) else entry


def _of_any_date(entry: Any) -> Any:
    """Look at the form of a time alone, not at the calendar."""
    if not isinstance(entry, dict) or not isinstance(entry.get("time"), dict):
        return entry

    def formed(text: Any) -> Any:
        return "2025-01-01T00:00:00Z" if isinstance(text, str) and len(text) == 20 and text[-1] == "Z" else text

    return {**entry, "time": {name: formed(text) for name, text in entry["time"].items()}}


def _first_alone(_original: Any) -> Any:
    def is_cognition(bundle: Bundle, cognition: Any) -> bool:
        return isinstance(cognition, list) and all(contents.is_cognition_record(bundle, entry) for entry in cognition[:1])

    return is_cognition


def _unreasoned(original: Any) -> Any:
    def malformed(bundle: Bundle) -> Refusal:
        refusal: Refusal = original(bundle)
        return Refusal(refusal.symbol, field=refusal.details["field"])

    return malformed


def _pathed(original: Any) -> Any:
    def malformed(bundle: Bundle) -> Refusal:
        refusal: Refusal = original(bundle)
        return Refusal(refusal.symbol, **{**refusal.details, "field": "decision.content_override.cognition"})

    return malformed


def _measured(count: Callable[[Doc], int]) -> Patch:
    return Patch(contents, "measure", lambda _original: count)


def _unmetered_empty(content: Doc) -> int:
    return canonical.content_bytes(_without_empty(content))


def _unmetered_cognition(content: Doc) -> int:
    return canonical.content_bytes({name: value for name, value in content.items() if name != "cognition"})


def _characters(content: Doc) -> int:
    return len(canonical.canonical(content).decode())


def _loose(content: Doc) -> int:
    return len(json.dumps(content, ensure_ascii=False).encode())


def _override_unmetered(original: Any) -> Any:
    def refuse(turn: Turn, *given: Doc) -> None:
        if turn.op.name != "memory.candidates.review":
            original(turn, *given)

    return refuse


def _absent_at_restart(original: Any) -> Any:
    """Read a space back without empty arrays."""

    def load(saved: Doc) -> Space:
        rows = [[*head, {**doc, "content": _without_empty(doc["content"])}] for *head, doc in saved["records"]]
        space: Space = original({**saved, "records": rows})
        return space

    return load


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md") -> Fault:
    return Fault(f"r024_{name}", RULE, sentence, patched(*patches), source)


def _promoted_without_empty(original: Any) -> Any:
    """Forget, at a promotion as captured, that the captured content named its cognition."""

    def drafted(candidate: Doc, decision: Doc) -> list[reviews.Draft]:
        drafts: list[reviews.Draft] = original(candidate, decision)
        captured = decision["action"] == "promote" and "content_override" not in decision
        return [draft._replace(content=_without_empty(draft.content)) if captured else draft for draft in drafts]

    return drafted


FAULTS: tuple[Fault, ...] = (
    _fault("empty_dropped", "an empty cognition array is dropped", *_kept_as(_without_empty)),
    _fault("absent_becomes_empty", "absent cognition becomes an empty array", *_kept_as(_with_empty)),
    _fault("empty_not_metered", "an empty cognition array is not metered", _measured(_unmetered_empty)),
    _fault("bytes_first", "a malformed record in a large content is reported as LIMIT_EXCEEDED",
           Patch(contents, "refuse_malformed_cognition", _bytes_first)),
    _fault("extra_member_accepted", "an extra member in a record is accepted", _judged(_trimmed), *_kept_as(_entries(_trimmed))),
    _fault("structured_promoted", "a structured value that looks like cognition becomes cognition", *_kept_as(_promoted)),
    _fault("override_not_checked", "the records of an override are not checked", _carrying(_without_override)),
    _fault("f18_nested_as_text", "nested values of structured are kept as texts", *_structured(_as_text), source="F18"),
    Fault("r024_f18_type_of_first_use", RULE, "a member of structured keeps the type of its first use", _pinned_types, "F18"),
    _fault("f18_nulls_dropped", "nulls inside structured are dropped", *_structured(_without_nulls), source="F18"),
    _fault("f18_empties_dropped", "empty objects and arrays inside structured are dropped",
           *_structured(_without_empties), source="F18"),
    _fault("f18_profile_nested_as_text", "nested values of a profile are kept as texts",
           _profiles_structured(_as_text), source="F18"),
    _fault("f18_extension_nested_as_text", "nested values of extensions are kept as texts",
           _extensions(_as_text), source="F18"),
    _fault("repeats_dropped", "an entry that is there twice is kept once", *_kept_as(_without_repeats), source="ours"),
    _fault("entries_sorted", "entries are kept in the order of their times", *_kept_as(_sorted), source="ours"),
    _fault("millisecond_times", "times are kept to the millisecond", *_kept_as(_entries(_millis)), source="ours"),
    _fault("times_respelled", "times are written without trailing zeros", *_kept_as(_entries(_short)), source="ours"),
    _fault("refs_deduplicated", "references that repeat are dropped", *_kept_as(_entries(_unique_refs)), source="ours"),
    _fault("asserted_by_dropped", "who asserted a record is dropped", *_kept_as(_entries(_unasserted)), source="ours"),
    _fault("view_defaulted", "a record without view is accepted",
           _judged(_with_view), *_kept_as(_entries(_with_view)), source="ours"),
    _fault("any_date_accepted", "a day that does not exist is accepted in a record", _judged(_of_any_date), source="ours"),
    _fault("first_entry_checked", "only the first record is checked",
           Patch(contents, "is_cognition", _first_alone), source="ours"),
    _fault("first_fragment_checked", "only the first fragment's records are checked",
           _carrying(_first_fragment_alone), source="ours"),
    _fault("update_not_checked", "the records of an update are not checked", _carrying(_unless_update), source="ours"),
    _fault("capture_and_create_not_checked", "the records of a capture and of a create are not checked",
           _carrying(_unless_capture), source="ours"),
    _fault("no_reason", "a malformed record is refused without its reason",
           Patch(contents, "malformed_cognition", _unreasoned), source="ours"),
    _fault("another_field", "a malformed record is refused under another field name",
           Patch(contents, "malformed_cognition", _pathed), source="ours"),
    _fault("cognition_not_metered", "cognition is not metered", _measured(_unmetered_cognition), source="ours"),
    _fault("characters_metered", "characters are metered, not bytes", _measured(_characters), source="ours"),
    _fault("spaces_metered", "the content is metered with spaces between its members", _measured(_loose), source="ours"),
    _fault("review_not_metered", "the contents of a review are not metered",
           Patch(contents, "refuse_oversized", _override_unmetered), source="ours"),
    _fault("empty_lost_at_restart", "a restart loses empty cognition arrays",
           Patch(store, "load_space", _absent_at_restart), source="ours"),
    _fault("empty_lost_at_promotion", "a promotion as captured loses an empty cognition array",
           Patch(reviews, "drafted", _promoted_without_empty), source="ours"),
    _fault("text_composed", "texts are kept in composed form", *_kept_as(_composed), source="ours"),
)  # fmt: skip
