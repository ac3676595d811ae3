"""Faults of MEM-R004: dispatch that takes what is broken, refuses what is right, or falls over."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from conformance import dispatch
from conformance.oracle import profiles, receipts, records
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Turn
from conformance.wire.bundle import Bundle, Operation
from conformance.wire.vocabulary import Code
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, patched

RULE = "MEM-R004"
RECURSION = 900
"""How deep code goes that calls itself, where nobody counts before: a request that is a little too deep is still refused well."""

HALF_A_MEBIBYTE = 2**19

Repair = Callable[[Bundle, Operation, Any], Any]


def _repairing(repair: Repair) -> Any:
    """Take a broken request for the valid one that ``repair`` makes of it."""

    def wrap(original: Any) -> Any:
        def refuse_malformed(bundle: Bundle, operation: Operation, payload: Any) -> None:
            validator = bundle.request(operation.name)
            if isinstance(payload, dict) and not validator.accepts(payload):
                repaired = repair(bundle, operation, payload)
                if validator.accepts(repaired):
                    payload.clear()
                    payload.update(repaired)
            original(bundle, operation, payload)

        return refuse_malformed

    return wrap


def _as_numbers(_bundle: Bundle, _operation: Operation, payload: Any) -> Any:
    if isinstance(payload, dict):
        return {name: _as_numbers(_bundle, _operation, member) for name, member in payload.items()}
    return int(payload) if isinstance(payload, str) and payload.isascii() and payload.isdigit() else payload


def _known_members(bundle: Bundle, operation: Operation, payload: Any) -> Any:
    known = bundle.schema(bundle.request_ref(operation.name))["properties"]
    return {name: member for name, member in payload.items() if name in known}


def _without_nulls(_bundle: Bundle, _operation: Operation, payload: Any) -> Any:
    return {name: member for name, member in payload.items() if member is not None}


def _trimmed(_bundle: Bundle, _operation: Operation, payload: Any) -> Any:
    return {name: member.strip().lower() if isinstance(member, str) else member for name, member in payload.items()}


def _without_last_newline(_bundle: Bundle, _operation: Operation, payload: Any) -> Any:
    """Leave the newline at the end of each text and each extension name away, as a pattern that may end before it does."""
    texts = {name: member.removesuffix("\n") if isinstance(member, str) else member for name, member in payload.items()}
    if isinstance(named := payload.get("extensions"), dict):
        texts["extensions"] = {name.removesuffix("\n"): member for name, member in named.items()}
    return texts


def _days_that_do_not_exist(original: Any) -> Any:
    def refuse_malformed(bundle: Bundle, operation: Operation, payload: Any) -> None:
        validator = bundle.request(operation.name)
        if validator.accepts(payload) or any(problem.keyword != "format" for problem in validator.problems(payload)):
            original(bundle, operation, payload)

    return refuse_malformed


def _refusing(broken: Callable[[Any], bool]) -> Any:
    """Refuse a valid request that holds a value for which ``broken`` is true."""

    def wrap(original: Any) -> Any:
        def refuse_malformed(bundle: Bundle, operation: Operation, payload: Any) -> None:
            if isinstance(payload, dict) and any(map(broken, payload.values())):
                raise dispatch.rejection(bundle, Code.MALFORMED_REQUEST)
            original(bundle, operation, payload)

        return refuse_malformed

    return wrap


def _is_whole_double(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


def _has_many_bytes(value: Any) -> bool:
    return isinstance(value, str) and len(value.encode("utf-8", "surrogatepass")) > 128


def _falling_over_depth(original: Any) -> Any:
    def refuse_deep(bundle: Bundle, operation: Operation, payload: Any) -> None:
        if dispatch.is_deeper(payload, 50):
            raise RecursionError("maximum recursion depth exceeded")
        original(bundle, operation, payload)

    return refuse_deep


def _recursive(original: Any) -> Any:
    def refuse_deep(bundle: Bundle, operation: Operation, payload: Any) -> None:
        if dispatch.is_deeper(payload, RECURSION):
            raise RecursionError("maximum recursion depth exceeded")
        original(bundle, operation, payload)

    return refuse_deep


def _falling_over_surrogates(original: Any) -> Any:
    def payload_digest(request: Doc) -> str:
        try:
            digest: str = original(request)
        except Refusal as error:
            raise UnicodeError("surrogates not allowed") from error
        return digest

    return payload_digest


def _without_nul(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nul(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_without_nul(item) for item in value]
    return value.replace("\x00", "") if isinstance(value, str) else value


def _stripping_nul(original: Any) -> Any:
    def added(turn: Turn, space: Space, kind: str, content: Doc, *rest: Any) -> Any:
        kept = {name: member if name == "cognition" else _without_nul(member) for name, member in content.items()}
        return original(turn, space, kind, kept, *rest)

    return added


def _malformed(*wraps: Any) -> Any:
    return patched(*(Patch(dispatch, "refuse_malformed", wrap) for wrap in wraps))


def _small_stages(_turn: Turn, _space: Space, request: Doc) -> None:
    """Take a stage for no larger than a proxy's default allows."""
    if len(json.dumps(request)) > HALF_A_MEBIBYTE:
        raise Refusal(Code.LIMIT_EXCEEDED)


def _with_unix_lines(original: Any) -> Any:
    def written(turn: Turn, request: Doc) -> Doc:
        content = {**request["content"], "text": request["content"]["text"].replace("\r\n", "\n")}
        document: Doc = original(turn, {**request, "content": content})
        return document

    return written


FAULTS: tuple[Fault, ...] = (
    Fault("r004_text_taken_for_a_number", RULE, "a number that comes as a text is taken", _malformed(_repairing(_as_numbers))),
    Fault(
        "r004_unknown_members_ignored",
        RULE,
        "unknown members of a request are ignored",
        _malformed(_repairing(_known_members)),
    ),
    Fault(
        "r004_depth_ends_in_the_internal_error",
        RULE,
        "a deeply nested request ends in the internal error",
        patched(Patch(dispatch, "refuse_deep", _falling_over_depth)),
    ),
    Fault(
        "r004_recursion_ends_in_the_internal_error",
        RULE,
        "a request that is nested deeper than the language's own recursion goes ends in the internal error",
        patched(Patch(dispatch, "refuse_deep", _recursive)),
        source="F27",
    ),
    Fault(
        "r004_surrogate_ends_in_the_internal_error",
        RULE,
        "an unpaired surrogate in a change ends in the internal error",
        patched(Patch(receipts, "payload_digest", _falling_over_surrogates)),
    ),
    Fault(
        "f27_nul_is_stripped",
        RULE,
        "U+0000 is taken out of the text and the structure of a record before they are stored",
        patched(Patch(records, "added", _stripping_nul)),
        source="F27",
    ),
    Fault(
        "r004_null_taken_for_absent",
        RULE,
        "an optional member that is null is taken for an absent one",
        _malformed(_repairing(_without_nulls)),
        source="ours",
    ),
    Fault(
        "r004_texts_trimmed_and_lowered",
        RULE,
        "a text that breaks its schema is taken where it would not without its outer spaces and capitals",
        _malformed(_repairing(_trimmed)),
        source="ours",
    ),
    Fault(
        "r004_day_that_does_not_exist",
        RULE,
        "a timestamp is judged by its pattern alone, so that 30 February is taken",
        _malformed(_days_that_do_not_exist),
        source="ours",
    ),
    Fault(
        "r004_whole_double_refused",
        RULE,
        "an integer that is written with a fraction of zero is refused",
        _malformed(_refusing(_is_whole_double)),
        source="ours",
    ),
    Fault(
        "r004_lengths_in_bytes",
        RULE,
        "the length of an id is counted in bytes, so that a long one of few characters is refused",
        _malformed(_refusing(_has_many_bytes)),
        source="ours",
    ),
    Fault(
        "r004_pattern_ends_before_a_newline",
        RULE,
        "a text or an extension's name that ends with a newline is taken for one without it",
        _malformed(_repairing(_without_last_newline)),
        source="ours",
    ),
    Fault(
        "r004_half_a_mebibyte_is_too_much_to_stage",
        RULE,
        "a stage of more than half a mebibyte is refused",
        patched(altered.step("imports.stage", altered.first(_small_stages))),
        source="ours",
    ),
    Fault(
        "r004_profile_lines_end_otherwise",
        RULE,
        "the text of a profile is stored with other ends of lines",
        patched(Patch(profiles, "written", _with_unix_lines)),
        source="ours",
    ),
)
