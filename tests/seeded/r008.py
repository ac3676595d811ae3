"""Faults of MEM-R008: subjects that are doubled, renamed, run together or put above one another."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

from conformance.oracle import fences, profiles, records, revisions, subjects
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn, extensions_of
from conformance.wire.vocabulary import Code
from tests.seeded import altered
from tests.seeded.fault import Fault, Patch, Provider, Wrapper, always, patched
from tests.seeded.scoped import reading

RULE = "MEM-R008"

SUBJECT_NAMES = ("subject_id", "subject_ids")
NAMES = (*SUBJECT_NAMES, "context_id", "context_ids", "kinds")


def _changed(space: Space, subject: Doc) -> Space:
    return space.having(subjects=space.subjects.change(subject["subject_id"], subject))


def _on_existing(change: Callable[[Turn, Doc, Doc], Doc]) -> Wrapper:
    """Let ``change`` make another subject of an existing one that is ensured again."""

    def wrap(original: Any) -> Any:
        def ensure(turn: Turn, space: Space, request: Doc) -> Outcome:
            found = space.subjects.get(request["subject_id"])
            outcome: Outcome = original(turn, space, request)
            if found is None or change(turn, found, request) == found:
                return outcome
            subject = change(turn, found, request)
            return _renamed(outcome, _changed(outcome.space, subject), subject)

        return ensure

    return wrap


def _renamed(outcome: Outcome, space: Space, subject: Doc) -> Outcome:
    """Give an outcome that names another version of the subject."""
    return outcome._replace(space=space, affected=(subjects.affected(subject),))


def _bumped(turn: Turn, found: Doc, _request: Doc) -> Doc:
    return revisions.revised(found, turn.now)


def _merged(_turn: Turn, found: Doc, request: Doc) -> Doc:
    return {**found, "extensions": {**found["extensions"], **extensions_of(request)}}


def _revived(_turn: Turn, found: Doc, _request: Doc) -> Doc:
    return {**found, "state": fences.ACTIVE}


def _kinded(_turn: Turn, found: Doc, request: Doc) -> Doc:
    return {**found, "kind": request["kind"]} if "kind" in request else found


def _new_for_another_kind(original: Any) -> Any:
    def ensure(turn: Turn, space: Space, request: Doc) -> Outcome:
        found = space.subjects.get(request["subject_id"])
        if found is None or request.get("kind", found.get("kind")) == found.get("kind"):
            outcome: Outcome = original(turn, space, request)
            return outcome
        subject = subjects.make(turn, space, request)
        return Outcome(_changed(space, subject), affected=(subjects.affected(subject),))

    return ensure


def _spelt(names: tuple[str, ...], spell: Callable[[str], str]) -> Callable[[], Provider]:
    return patched(reading(lambda _space, member, name: (spell(name) or name) if member in names else name))


def _visible(name: str) -> str:
    return "".join(character for character in name if unicodedata.category(character) not in ("Cf", "Cc"))


def _collated(space: Space, member: str, name: str) -> str:
    """Take a subject for the first one that differs from it in case or accents alone."""
    if member not in SUBJECT_NAMES or name in space.subjects:
        return name
    return next((known for known in map(str, space.subjects.rows) if _folded(known) == _folded(name)), name)


def _folded(name: str) -> str:
    plain = unicodedata.normalize("NFD", name).casefold()
    return "".join(character for character in plain if not unicodedata.combining(character))


def _below_too(original: Any) -> Any:
    """Fence and archive what a path would put below the subject, too."""

    def fence(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        above = request["target"].get("subject_id")
        for subject in outcome.space.subjects.all() if above else ():
            if subject["subject_id"].startswith((f"{above}/", f"{above}:")):
                state = outcome.space.subjects.get(above)
                outcome = outcome._replace(space=_changed(outcome.space, {**subject, "state": state["state"] if state else ""}))
        return outcome

    return fence


def _as_it_goes(original: Any) -> Any:
    """Make a missing subject where something is written for it."""

    def create(turn: Turn, space: Space, request: Doc) -> Outcome:
        subject_id = request["scope"]["subject_id"]
        if subject_id not in space.subjects:
            made = subjects.make(turn, space, {"subject_id": subject_id})
            space = space.having(subjects=space.subjects.add(subject_id, "", turn.next_number(), made))
        outcome: Outcome = original(turn, space, request)
        return outcome

    return create


def _archived_with_kind(original: Any) -> Any:
    """Refuse to ensure an archived subject under the kind that it has."""

    def ensure(turn: Turn, space: Space, request: Doc) -> Outcome:
        found = space.subjects.get(request["subject_id"])
        if found is not None and "kind" in request and found["state"] == fences.ARCHIVED:
            raise Refusal(Code.SUBJECT_ARCHIVED)
        outcome: Outcome = original(turn, space, request)
        return outcome

    return ensure


def _for_somebody(original: Any) -> Any:
    """Refuse a read over a subject that does not exist."""

    def read(turn: Turn, space: Space, request: Doc) -> Outcome:
        outcome: Outcome = original(turn, space, request)
        subjects.require_existing(space, request["selection"]["subject_id"])
        return outcome

    return read


def _joined_key(_original: Any) -> Any:
    return lambda subject_id, kind: (f"{subject_id}/{kind}", "")


FAULTS = (
    Fault("r008_second_ensure_bumps", RULE, "a second ensure adds a revision",
          patched(altered.step("subjects.ensure", _on_existing(_bumped)))),
    Fault("r008_another_kind_makes_a_new_one", RULE, "an ensure under another kind puts a new subject in the old one's place",
          patched(altered.step("subjects.ensure", _new_for_another_kind))),
    Fault("r008_trims_ids", RULE, "spaces around a subject's id are dropped", _spelt(SUBJECT_NAMES, str.strip)),
    Fault("r008_lower_cases_ids", RULE, "a subject's id is turned into lower case", _spelt(SUBJECT_NAMES, str.lower)),
    Fault("r008_collates_ids", RULE, "subjects whose ids differ in case or accents alone are one", patched(reading(_collated)),
          source="F26"),
    Fault("r008_normalises_names", RULE, "names are put into composed form before they are compared",
          _spelt(NAMES, lambda name: unicodedata.normalize("NFC", name)), source="ours"),
    Fault("r008_drops_invisible_characters", RULE, "invisible characters of a name are dropped",
          _spelt(NAMES, _visible), source="ours"),
    Fault("r008_ensure_merges_extensions", RULE, "a further ensure adds its extensions to the subject",
          patched(altered.step("subjects.ensure", _on_existing(_merged))), source="ours"),
    Fault("r008_ensure_revives", RULE, "an ensure makes a fenced or archived subject active again",
          patched(altered.step("subjects.ensure", _on_existing(_revived))), source="ours"),
    Fault("r008_ensure_takes_the_kind", RULE, "an ensure with another kind gives the subject that kind",
          patched(Patch(subjects, "refuse_other_kind", always(None)),
                  altered.step("subjects.ensure", _on_existing(_kinded))), source="ours"),
    Fault("r008_paths_make_a_hierarchy", RULE, "archiving a subject archives those whose ids continue its own",
          patched(altered.step("subjects.fence", _below_too)), source="ours"),
    Fault("r008_writing_makes_the_subject", RULE, "a record for a missing subject makes the subject",
          patched(altered.step("records.create", _as_it_goes)), source="ours"),
    Fault("r008_profile_key_is_joined", RULE, "a profile is kept under its subject and kind joined with a slash",
          patched(Patch(profiles, "key_of", _joined_key)), source="ours"),
    Fault("r008_promote_changes_the_subject", RULE, "a promotion takes a record to another subject",
          patched(Patch(records, "refuse_other_subject", always(None))), source="ours"),
    Fault("r008_archived_refused_with_its_kind", RULE, "an ensure of an archived subject under its own kind is refused",
          patched(altered.step("subjects.ensure", _archived_with_kind)), source="ours"),
    Fault("r008_no_reflections_of_nobody", RULE, "a list of the reflections over a missing subject is refused",
          patched(altered.step("reflections.list", _for_somebody)), source="ours"),
    Fault("r008_no_state_of_nobody", RULE, "the state of what a missing subject has is refused",
          patched(altered.step("reflections.state", _for_somebody)), source="ours"),
)  # fmt: skip
"""The faults that this rule must catch."""
