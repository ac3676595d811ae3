"""What the compiler makes of each keyword of draft-07: always valid, reaching what it should, impossible said to be impossible.

The cases stand in ``draft7_cases``: a schema, ``reaches`` (schemas of which each must hold for some drawn value), ``impossible``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, FormatChecker, ValidationError
from jsonschema.validators import extend

from conformance.wire.formats import compiled, is_timestamp
from strategies.from_schema import CannotBuild, from_schema
from tests.drawing import drawn

EXAMPLES = 36
BATCHES = 6
FILES = sorted((Path(__file__).parent / "draft7_cases").glob("*.json"))
CASES = [(path.stem, case) for path in FILES for case in json.loads(path.read_text(encoding="utf-8"))]


def _ids(impossible: bool) -> list[Any]:
    return [
        pytest.param(case, id=f"{stem}: {case['about']}") for stem, case in CASES if case.get("impossible", False) is impossible
    ]


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    """Read patterns as ECMA-262 does: ``$`` is the very end."""
    if isinstance(instance, str) and compiled(pattern).search(instance) is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


STRICT = extend(Draft7Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]
FORMATS = FormatChecker(())
FORMATS.checkers = dict(Draft7Validator.FORMAT_CHECKER.checkers)


@FORMATS.checks("date-time")
def _date_time(text: object) -> bool:
    return not isinstance(text, str) or is_timestamp(text)


def valid(schema: Any, value: Any) -> bool:
    return bool(STRICT(schema, format_checker=FORMATS).is_valid(value))


def test_there_are_cases_for_each_keyword() -> None:
    keywords = {
        "type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength",
        "minLength", "pattern", "items", "additionalItems", "maxItems", "minItems", "uniqueItems", "contains", "maxProperties",
        "minProperties", "required", "properties", "patternProperties", "additionalProperties", "dependencies", "propertyNames",
        "if", "then", "else", "allOf", "anyOf", "oneOf", "not", "format", "$ref", "definitions",
    }  # fmt: skip
    text = json.dumps([case["schema"] for _, case in CASES])
    assert [word for word in sorted(keywords) if text.count(f'"{word}":') < 2] == []
    assert len(CASES) >= 120


@pytest.mark.parametrize("case", _ids(impossible=False))
def test_what_is_drawn_is_valid_and_reaches_what_it_should(case: dict[str, Any]) -> None:
    Draft7Validator.check_schema(case["schema"])
    missing = case.get("reaches", [])
    for batch in range(BATCHES):
        values = drawn(from_schema(None, case["schema"]), EXAMPLES, start=batch * EXAMPLES)
        assert values
        assert [value for value in values if not valid(case["schema"], value)] == []
        missing = [goal for goal in missing if not any(valid(goal, value) for value in values)]
        if not missing:
            break
    assert missing == []


@pytest.mark.parametrize("case", _ids(impossible=True))
def test_a_schema_that_nothing_meets_is_named(case: dict[str, Any]) -> None:
    with pytest.raises(CannotBuild) as caught:
        from_schema(None, case["schema"])
    assert caught.value.where.startswith(("urn:schema#", "https://spoke42.invalid/"))
    assert caught.value.keyword
    assert str(caught.value) == f"{caught.value.where}: {caught.value.keyword}: {caught.value.why}"
