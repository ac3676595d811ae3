"""Timestamps, instants, and patterns as ECMA-262 means them."""

from __future__ import annotations

import pytest

from conformance.wire.bundle import instant, is_timestamp, load
from conformance.wire.formats import compiled

BUNDLE = load()


class TestFormats:
    @pytest.mark.parametrize(
        "text",
        [
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59.9Z",
            "2000-02-29T12:00:00Z",
            "2026-04-30T00:00:00.000000000000000000000001Z",
        ],
    )
    def test_timestamps(self, text: str) -> None:
        assert is_timestamp(text)
        assert BUNDLE.model("Timestamp").accepts(text)

    @pytest.mark.parametrize(
        "text",
        [
            "1900-02-29T12:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00Z",
            "2026-01-01",
            "12026-01-01T00:00:00Z",
            "",
            "٢٠٢٦-01-01T00:00:00Z",
            "2026-01-01T00:00:00Z\n",
            " 2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00,5Z",
        ],
    )
    def test_what_is_no_timestamp(self, text: str) -> None:
        assert not is_timestamp(text)
        assert not BUNDLE.model("Timestamp").accepts(text)
        with pytest.raises(ValueError, match="not a timestamp"):
            instant(text)

    def test_instants_compare_as_instants(self) -> None:
        ordered = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.0000001Z", "2026-01-01T00:00:00.09Z", "2026-01-01T00:00:00.1Z"]
        ordered += ["2026-01-01T00:00:00.10000000000000000000000001Z", "2026-01-01T00:00:00.9Z", "2026-01-01T00:00:01Z"]
        assert [instant(text) for text in ordered] == sorted({instant(text) for text in ordered})
        assert instant("2026-01-01T00:00:00.000Z") == instant("2026-01-01T00:00:00Z")
        assert instant("2026-01-01T00:00:00.10Z") == instant("2026-01-01T00:00:00.1Z")

    @pytest.mark.parametrize(
        ("pattern", "found", "missed"),
        [
            ("^a$", ["a"], ["a\n", "ba"]),
            (r"^\$a[$.]$", ["$a$", "$a."], ["$ab"]),
            (r"^\d\w\s$", ["1a ", "1a\u00a0", "1a\ufeff"], ["٣a ", "1é "]),
            ("^.$", ["a", "\x85"], ["\n", "\r", "\u2028"]),
            (r"^[\s\/]+$", ["/ \u2003"], ["a"]),
            (r"^\S$", ["a"], ["\ufeff"]),
            ("^[[&|~]+$", ["[&|~"], ["a"]),
            (r"^[^\]a]$", ["b"], ["a", "]"]),
            ("^[^]$", ["\n", "a"], [""]),
            ("a[]|b", ["b"], ["a"]),
            (r"(?<year>\d{4})(?<!x)", ["2026"], ["202"]),
        ],
    )
    def test_patterns_find_what_ecma_script_finds(self, pattern: str, found: list[str], missed: list[str]) -> None:
        assert [text for text in [*found, *missed] if compiled(pattern).search(text)] == found
