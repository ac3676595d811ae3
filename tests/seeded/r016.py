"""Faults that MEM-R016 (revisions) must catch."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from conformance.oracle import activation, candidates, fences, jobs, records, revisions, spaces, subjects
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn
from conformance.wire.vocabulary import Code
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, Patched, Provider, always, patched
from tests.seeded.races import checked_on_arrival, racing, written_back
from tests.seeded.refused import leaving

RULE = "MEM-R016"
Revision = int | None
UNCHECKED = Patch(revisions, "check", always(None))


def _tolerant(tolerates: Callable[[Revision, Revision], bool]) -> Patch:
    """Let a wrong expected revision through where ``tolerates`` says so."""

    def wrap(original: Any) -> Any:
        def check(expected: Revision, actual: Revision) -> None:
            if not tolerates(expected, actual):
                original(expected, actual)

        return check

    return Patch(revisions, "check", wrap)


def _ahead(expected: Revision, actual: Revision) -> bool:
    return expected is not None and actual is not None and expected > actual


def _stale(expected: Revision, actual: Revision) -> bool:
    return expected is not None and actual is not None and expected < actual


def _just_behind(expected: Revision, actual: Revision) -> bool:
    return expected is not None and actual is not None and expected == actual - 1


def _null(expected: Revision, actual: Revision) -> bool:
    return expected is None and actual is not None


def _missing(expected: Revision, actual: Revision) -> bool:
    return expected is not None and actual is None


def _swapped(expected: Revision, actual: Revision) -> Code:
    return Code.REVISION_AHEAD if (expected or 0) < (actual or 0) else Code.REVISION_STALE


def _one_code(_original: Any) -> Any:
    return lambda _expected, _actual: Code.REVISION_STALE


def _crossed(_original: Any) -> Any:
    def check(expected: Revision, actual: Revision) -> None:
        if expected != actual:
            raise Refusal(revisions.mismatch(expected, actual), expected_revision=actual, actual_revision=expected)

    return check


def _unchecked_in(place: Any, name: str) -> Patch:
    """Leave the revision unchecked inside one function."""

    def wrap(original: Any) -> Any:
        def unchecked(*given: Any) -> Any:
            with UNCHECKED.applied():
                return original(*given)

        return unchecked

    return Patch(place, name, wrap)


def _unchecked_unfreeze(original: Callable[..., Outcome]) -> Any:
    def switched(turn: Turn, space: Space, request: Doc, before: str, after: str) -> Outcome:
        if after == fences.ACTIVE:
            request = {**request, "expected_revision": space.facts["revision"]}
        return original(turn, space, request, before, after)

    return switched


def _unchecked_archive(original: Callable[..., Outcome]) -> Any:
    def fence(turn: Turn, space: Space, request: Doc) -> Outcome:
        subject = space.subjects.get(request["target"]["subject_id"])
        if subject is not None and request["action"] == "archive":
            request = {**request, "expected_revision": subject["revision"]}
        return original(turn, space, request)

    return fence


def _bumped(_turn: Turn, space: Space, request: Doc, refusal: Refusal) -> Space:
    """Let a refused change of a record count all the same."""
    record = space.records.get(request.get("record_id", ""))
    if record is None or refusal.symbol not in (Code.REVISION_STALE, Code.REVISION_AHEAD):
        return space
    later = {**record, "revision": record["revision"] + 1}
    return space.having(records=space.records.change(record["record_id"], later))


def _equal_is_no_change(original: Callable[..., Outcome]) -> Any:
    def stored(turn: Turn, space: Space, record: Doc, **members: Any) -> Outcome:
        if all(record.get(name) == value for name, value in members.items()):
            return Outcome(space, affected=(records.affected(record),))
        return original(turn, space, record, **members)

    return stored


def _equal_pair_is_no_change(original: Callable[..., Outcome]) -> Any:
    alone = _equal_is_no_change(original)

    def stored(turn: Turn, space: Space, record: Doc, **members: Any) -> Outcome:
        outcome: Outcome = (alone if {"content", "kind"} <= members.keys() else original)(turn, space, record, **members)
        return outcome

    return stored


def _stale_job() -> Provider:
    """Make a provider whose jobs write the records back as they were when the job began."""
    started: dict[int, Space] = {}

    def remembering(original: Callable[..., Space]) -> Any:
        def waiting(space: Space, number: int, *rest: Any) -> Space:
            started[number] = space
            return original(space, number, *rest)

        return waiting

    def writing_back(original: Callable[..., Space]) -> Any:
        def settled(space: Space, number: int, receipt: Doc) -> Space:
            back = {"records": started.pop(number).records} if number in started else {}
            return original(space.having(**back), number, receipt)

        return settled

    return Patched([Patch(jobs, "waiting", remembering), Patch(jobs, "settled", writing_back)])


LATE = (UNCHECKED, Patch(candidates, "refuse_consumed", always(None)), Patch(records, "refuse_tombstone", always(None)))


def _fault(name: str, sentence: str, *patches: Patch, source: str = "rules.md") -> Fault:
    return Fault(f"r016_{name}", RULE, sentence, patched(*patches), source)


def _touching(_turn: Turn, _before: Space, after: Space) -> Space:
    """Take a change in a space for a change of the space."""
    return after._replace(facts={**after.facts, "revision": after.facts["revision"] + 1})


def _stamping(turn: Turn, _before: Space, after: Space) -> Space:
    """Tell when anything in a space was changed as when the space was."""
    return after._replace(facts={**after.facts, "updated_at": turn.now})


def _undated_space(_turn: Turn, before: Space, after: Space) -> Space:
    return after._replace(facts={**after.facts, "updated_at": before.facts["updated_at"]})


def _kept_date(original: Any) -> Any:
    return lambda turn, space, bundle: {**original(turn, space, bundle), "updated_at": space.facts["updated_at"]}


def _undated(table: str, key: Callable[[Doc], Any]) -> Any:
    """Change an object of a table and leave its date."""

    def wrap(original: Any) -> Any:
        def changed(turn: Turn, space: Space, request: Doc) -> Outcome:
            outcome: Outcome = original(turn, space, request)
            before, after = getattr(space, table).get(key(request)), getattr(outcome.space, table)
            if before is None:
                return outcome
            kept = {**after.get(key(request)), "updated_at": before["updated_at"]}
            return outcome._replace(space=outcome.space.having(**{table: after.change(key(request), kept)}))

        return changed

    return wrap


RECORD_UNDATED = _undated("records", itemgetter("record_id"))


def _as_text(_original: Any) -> Any:
    return lambda expected, actual: Code.REVISION_STALE if str(expected or 0) < str(actual or 0) else Code.REVISION_AHEAD


FAULTS: tuple[Fault, ...] = (
    _fault("accepts_ahead", "a revision ahead of the stored one commits", _tolerant(_ahead)),
    _fault("accepts_stale", "any earlier revision commits", _tolerant(_stale)),
    _fault("accepts_just_behind", "the revision before the stored one commits", _tolerant(_just_behind), source="ours"),
    _fault("adds_two", "an accepted change adds 2", Patch(revisions, "following", lambda _original: lambda actual: actual + 2)),
    _fault("refusal_bumps", "a refused change of a record adds 1", leaving(_bumped)),
    _fault("codes_swapped", "stale and ahead are told as each other", Patch(revisions, "mismatch", lambda _original: _swapped)),
    _fault("one_code", "ahead is told as stale", Patch(revisions, "mismatch", _one_code), source="ours"),
    _fault("details_crossed", "the details give each revision as the other", Patch(revisions, "check", _crossed), source="ours"),
    Fault("r016_check_then_act", RULE, "concurrent changes on one revision all commit", racing(checked_on_arrival(*LATE))),
    Fault(
        "r016_f07_store_written_back", RULE, "a store written back whole loses what came between",
        racing(written_back()), "F07",
    ),
    Fault("r016_f07_job_writes_back", RULE, "a settling job writes back the records of its start", _stale_job, "F07"),
    _fault("null_overwrites", "expecting no document overwrites one", _tolerant(_null), source="ours"),
    _fault("any_number_creates", "any expected number creates a document", _tolerant(_missing), source="ours"),
    _fault(
        "review_unchecked", "a decision on a candidate takes any revision",
        _unchecked_in(candidates, "consumable"), source="ours",
    ),
    _fault(
        "unfreeze_unchecked", "unfreezing takes any revision",
        Patch(spaces, "_switched", _unchecked_unfreeze), source="ours",
    ),
    _fault(
        "archive_unchecked", "archiving takes any revision",
        Patch(subjects.FENCES, "subject", _unchecked_archive), source="ours",
    ),
    _fault(
        "equal_is_no_change", "an update to equal values adds nothing",
        Patch(records, "stored", _equal_is_no_change), source="ours",
    ),
    _fault(
        "equal_pair_is_no_change", "an update to equal content and equal kind at once adds nothing",
        Patch(records, "stored", _equal_pair_is_no_change), source="ours",
    ),
    _fault(
        "space_counts_its_records", "a new record adds 1 to the revision of its space",
        altered.effect("records.create", _touching), source="ours",
    ),
    _fault(
        "grants_touch_the_space", "a new grant moves updated_at of its space",
        altered.effect("grants.grant", _stamping), source="ours",
    ),
    _fault(
        "unfreezing_has_no_date", "unfreezing a space leaves its updated_at",
        altered.effect("spaces.unfreeze", _undated_space), source="ours",
    ),
    _fault(
        "activation_has_no_date", "an activation leaves updated_at of its space",
        Patch(activation, "facts", _kept_date), source="ours",
    ),
    _fault(
        "deletion_has_no_date", "a deletion leaves updated_at of its record",
        altered.step("records.delete", RECORD_UNDATED), source="ours",
    ),
    _fault(
        "promotion_has_no_date", "a promotion leaves updated_at of its record",
        altered.step("records.promote", RECORD_UNDATED), source="ours",
    ),
    _fault(
        "fence_has_no_date", "fencing a subject leaves its updated_at",
        altered.step("subjects.fence", _undated("subjects", lambda request: request["target"].get("subject_id"))), source="ours",
    ),
    _fault(
        "profile_keeps_its_first_date", "a profile that is written again keeps its updated_at",
        altered.step("profile.update", _undated("profiles", itemgetter("subject_id", "kind"))), source="ours",
    ),
    _fault("revisions_as_text", "what is behind and what is ahead is told by the text of the revisions",
           Patch(revisions, "mismatch", _as_text), source="ours"),
    Fault("r016_profiles_written_back", RULE, "documents that are written at once lose one another",
          racing(written_back("profile.update")), "ours"),
    Fault("r016_fences_written_back", RULE, "contexts that are fenced at once lose one another",
          racing(written_back("subjects.fence")), "ours"),
    Fault("r016_deletion_checked_on_arrival", RULE, "a deletion commits beside an update on the same revision",
          racing(checked_on_arrival(UNCHECKED, only="records.delete")), "ours"),
)  # fmt: skip
