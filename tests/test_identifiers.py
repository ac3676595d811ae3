"""Ids, kinds, namespaces and instants: valid, distinct where they must be, plain when shrunk."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given

from conformance.wire.bundle import instant, is_timestamp, load
from strategies import identifiers, timestamps
from strategies.vocabulary import member_schema
from tests.sampling import CALM, plainest, reached

BUNDLE = load()
ID = BUNDLE.model("Id")


@pytest.mark.parametrize("family", identifiers.LOOK_ALIKES, ids=lambda family: ascii(family[0])[:12])
def test_a_family_is_of_distinct_valid_ids(family: tuple[str, ...]) -> None:
    assert len(set(family)) == len(family) >= 2
    assert all(ID.accepts(one) for one in family)


def test_the_families_hold_what_careless_code_runs_together() -> None:
    def some(same: object) -> bool:
        return any(
            a != b and same(a) == same(b)  # type: ignore[operator]
            for family in identifiers.LOOK_ALIKES
            for a in family
            for b in family
        )

    assert some(str.casefold)
    assert some(str.strip)
    assert some(lambda text: unicodedata.normalize("NFC", text))
    assert some(lambda text: unicodedata.normalize("NFKC", text))
    assert some(lambda text: text.replace("\u200b", ""))
    assert some(lambda text: text[:127])
    assert some(lambda text: text.partition("\x00")[0])


@CALM
@given(identifiers.ids())
def test_every_id_is_valid(drawn: str) -> None:
    assert ID.accepts(drawn)


@CALM
@given(identifiers.hostile_ids())
def test_every_hostile_id_is_valid(drawn: str) -> None:
    assert ID.accepts(drawn)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_look_alikes_are_distinct_and_of_one_family(n: int) -> None:
    @CALM
    @given(identifiers.look_alikes(n))
    def check(drawn: tuple[str, ...]) -> None:
        assert len(set(drawn)) == len(drawn) == n
        assert any(set(drawn) <= set(family) for family in identifiers.LOOK_ALIKES)

    check()


@CALM
@given(identifiers.colliding_pairs())
def test_colliding_pairs_are_distinct_and_join_to_one_text(pairs: tuple[tuple[str, str], tuple[str, str]]) -> None:
    left, right = pairs
    assert left != right
    assert any(separator.join(left) == separator.join(right) for separator in identifiers.SEPARATORS)
    assert all(ID.accepts(one) for one in (*left, *right))


@CALM
@given(identifiers.kinds())
def test_every_kind_is_valid(drawn: str) -> None:
    assert BUNDLE.model("OpenKind").accepts(drawn)


@CALM
@given(identifiers.subject_kinds())
def test_every_subject_kind_is_valid(drawn: str) -> None:
    assert BUNDLE.model("SubjectKind").accepts(drawn)


@pytest.mark.parametrize("hostile", [False, True])
def test_every_extension_map_is_valid(hostile: bool) -> None:
    @CALM
    @given(identifiers.extension_maps(hostile))
    def check(drawn: dict[str, object]) -> None:
        assert BUNDLE.model("ExtensionMap").accepts(drawn)

    check()


def test_the_plainest_values_are_plain() -> None:
    assert plainest(identifiers.ids()) == "a"
    assert plainest(identifiers.kinds()) == "a"
    assert plainest(identifiers.subject_kinds()) == "a:a"
    assert plainest(identifiers.extension_maps()) == {}
    assert plainest(identifiers.extension_maps(hostile=True)) == {}
    assert plainest(identifiers.look_alikes()) == ("a", "A")
    assert plainest(timestamps.timestamps()) == "2000-01-01T00:00:00Z"


def test_ids_reach_the_hostile_and_the_longest() -> None:
    assert reached(identifiers.ids(), lambda drawn: drawn == "__proto__")
    assert len(reached(identifiers.ids(), lambda drawn: len(drawn.encode()) > 500)) <= identifiers.ID_LIMIT


def test_the_limit_of_an_id_is_the_schema_s() -> None:
    assert member_schema(BUNDLE, "RetainedRecord", "record_id")["maxLength"] == identifiers.ID_LIMIT


@CALM
@given(timestamps.timestamps())
def test_every_timestamp_is_one(drawn: str) -> None:
    assert is_timestamp(drawn)
    assert BUNDLE.model("Timestamp").accepts(drawn)


@pytest.mark.parametrize("text", timestamps.EDGES)
def test_every_edge_is_a_timestamp(text: str) -> None:
    assert BUNDLE.model("Timestamp").accepts(text)


@pytest.mark.parametrize("text", timestamps.INVALID_TIMESTAMPS)
def test_no_invalid_timestamp_is_one(text: str) -> None:
    assert not is_timestamp(text)
    assert not BUNDLE.model("Timestamp").accepts(text)


@CALM
@given(timestamps.neighbours())
def test_neighbours_differ_by_less_than_a_millisecond(pair: tuple[str, str]) -> None:
    before, after = pair
    assert instant(before) < instant(after)
    assert _nanoseconds(after) - _nanoseconds(before) < 1_000_000


def _nanoseconds(text: str) -> int:
    """Count from the start of the minute before, which is enough for two neighbours."""
    clock = text[11:19].split(":")
    seconds = int(clock[0]) * 3600 + int(clock[1]) * 60 + int(clock[2])
    fraction = text[20:-1] if "." in text else ""
    return (seconds or 86400) * 10**9 + int(fraction.ljust(9, "0"))


@CALM
@given(timestamps.timestamps())
def test_the_instant_just_after_is_later_than_every_spelling_of_the_first(drawn: str) -> None:
    after = timestamps.just_after(drawn)
    assert is_timestamp(after)
    assert instant(after) > instant(drawn)


def test_respelled_timestamps_are_one_instant() -> None:
    @CALM
    @given(timestamps.respelled("2000-01-01T00:00:00.50Z"))
    def check(drawn: str) -> None:
        assert instant(drawn) == instant("2000-01-01T00:00:00.5Z")

    check()
    assert plainest(timestamps.respelled("2000-01-01T00:00:00.50Z")) == "2000-01-01T00:00:00.5Z"


def test_a_shift_keeps_the_fraction_and_stops_at_the_ends_of_the_calendar() -> None:
    assert timestamps.shifted("2024-02-28T23:59:59.25Z", 1) == "2024-02-29T00:00:00.25Z"
    assert timestamps.shifted(timestamps.EARLIEST, -1) == timestamps.EARLIEST
    assert timestamps.shifted(timestamps.LATEST, 1) == timestamps.LATEST
