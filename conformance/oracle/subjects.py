"""``memory.subjects.*`` (protocol.md section 7, Subjects and Fences)."""

from __future__ import annotations

from collections.abc import Callable

from conformance.oracle import authority, fences, revisions, spaces
from conformance.oracle.refusals import Refusal
from conformance.oracle.state import Doc, Space
from conformance.oracle.turn import Outcome, Turn, changed, extensions_of
from conformance.wire.vocabulary import Code


def require_existing(space: Space, subject_id: str) -> None:
    """Refuse to make a record, candidate, profile or reflection for a subject that does not exist."""
    if subject_id not in space.subjects:
        raise Refusal(Code.NOT_FOUND)


def ensure(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.subjects.ensure``: the subject is there afterwards, once; an existing one is not touched."""
    authority.require_subject(turn, request["subject_id"])
    fences.refuse_frozen(turn, space)
    found = space.subjects.get(request["subject_id"])
    if found is None:
        return _made(turn, space, request)
    refuse_other_kind(found, request)
    return Outcome(space, affected=(affected(found),))


def refuse_other_kind(subject: Doc, request: Doc) -> None:
    """Refuse another kind than the subject has, or one where it has none; without ``kind`` nothing is asked."""
    if "kind" in request and request["kind"] != subject.get("kind"):
        raise Refusal(Code.WRONG_STATE)


def make(turn: Turn, space: Space, request: Doc) -> Doc:
    """Make the document of a new subject."""
    kind = {"kind": request["kind"]} if "kind" in request else {}
    return {
        **turn.envelope(extensions_of(request)),
        "space_id": space.space_id,
        "subject_id": request["subject_id"],
        **kind,
        "state": fences.ACTIVE,
        "revision": revisions.FIRST,
        "created_at": turn.now,
        "updated_at": turn.now,
        **turn.carried(request, "Subject"),
    }


def _made(turn: Turn, space: Space, request: Doc) -> Outcome:
    subject = make(turn, space, request)
    subjects = space.subjects.add(subject["subject_id"], "", turn.next_number(), subject)
    return Outcome(space.having(subjects=subjects), affected=(affected(subject),))


def affected(subject: Doc) -> Doc:
    """Name a subject as changed, at its revision."""
    return changed("subject", subject["subject_id"], subject["revision"])


def get(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.subjects.get``."""
    authority.require_subject(turn, request["subject_id"])
    found = space.subjects.get(request["subject_id"])
    if found is None:
        raise Refusal(Code.NOT_FOUND)
    return Outcome(space, {"subject": found})


def fence(turn: Turn, space: Space, request: Doc) -> Outcome:
    """``memory.subjects.fence``: fence, unfence or archive a subject; fence or unfence a context, for every subject."""
    authority.require_space(turn)
    fences.refuse_frozen(turn, space)
    return FENCES[request["target"]["type"]](turn, space, request)


def _fence_subject(turn: Turn, space: Space, request: Doc) -> Outcome:
    subject = space.subjects.get(request["target"]["subject_id"])
    if subject is None:
        raise Refusal(Code.NOT_FOUND)
    after = subject_after(subject, request["action"])
    revisions.check(request["expected_revision"], subject["revision"])
    subject = revisions.revised(subject, turn.now, state=after)
    subjects = space.subjects.change(subject["subject_id"], subject)
    return Outcome(space.having(subjects=subjects), affected=(affected(subject),))


def subject_after(subject: Doc, action: str) -> str:
    """Give the state that an action leaves a subject in; an archived one refuses all, a change to what is no change."""
    fences.refuse_archived(subject)
    after = AFTER[action]
    if after == subject["state"]:
        raise Refusal(Code.WRONG_STATE)
    return after


AFTER = {"fence": fences.FENCED, "unfence": fences.ACTIVE, "archive": fences.ARCHIVED}


def _fence_context(turn: Turn, space: Space, request: Doc) -> Outcome:
    context_id = request["target"]["context_id"]
    facts = revisions.revised(space.facts, turn.now, fenced_context_ids=contexts_after(space, context_id, request["action"]))
    return Outcome(space.having(facts=facts), affected=(spaces.affected(facts),))


def contexts_after(space: Space, context_id: str, action: str) -> list[str]:
    """Give the fenced contexts after an action; fencing the fenced and unfencing the unfenced is refused."""
    fenced: list[str] = space.facts["fenced_context_ids"]
    if fences.is_fenced_context(space, context_id) == (action == "fence"):
        raise Refusal(Code.WRONG_STATE)
    return [*fenced, context_id] if action == "fence" else [other for other in fenced if other != context_id]


FENCES: dict[str, Callable[[Turn, Space, Doc], Outcome]] = {"subject": _fence_subject, "context": _fence_context}
