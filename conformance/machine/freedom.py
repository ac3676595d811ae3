"""What the contract leaves open: one table. Whatever it does not name is compared exactly.

Two comparisons live on it: the walk's, of a target with a model that has the target's names, and that of two providers with names
of their own (``conformance.disagreement``).

A row says of which answer it speaks, which member is meant, and the sentence of protocol.md that leaves it open. ``how`` compares
the member where there is still something to compare. A row without ``how`` is no member but a choice, and ``how it is
followed`` stands in ``by``: the model takes the target's choice where two answers are right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter

from conformance.machine.comparison import (
    Comparator,
    affected,
    as_instant,
    as_set,
    classification,
    document,
    failing,
    free,
    keeping,
    listed,
    moment,
    own_namespaces,
    paired_digest,
)
from conformance.wire.vocabulary import Code


@dataclass(frozen=True, slots=True)
class Row:
    """``of``: a model, or what a choice is about; ``member``: its member, or the choice; ``sentence``: what leaves it open."""

    of: str
    member: str
    sentence: str
    how: Comparator | None = None
    by: str = ""


_CLOCK = "Timestamp has any number of fraction digits, real calendar days only, and is compared as an instant (section 1)."
_SET = "A set: its order says nothing (sections 3 and 4)."
_ORDER = "Lists: order is the provider's, but stable (section 7)."
_EITHER_ANSWER = "NOT_AUTHORIZED; a provider may answer NOT_FOUND there too (section 5, Visibility)."
_ANNOUNCED = "limits, required kinds, versions, dimensions are announced (section 4)."
_FORM = "Its form is the provider's: only equality and inequality are tested (section 3, Reflection)."

EVERY = "every object"

FREEDOM: tuple[Row, ...] = (
    # members of documents
    Row(EVERY, "schema_version", "Every durable object has schema_version (section 3); its schema takes any from 1 on.", free),
    Row(
        EVERY, "extensions",
        "Request extensions go to the object that the request creates, never to a receipt (section 4); it forbids no others.",
        own_namespaces,
    ),
    Row("space", "created_at", _CLOCK, moment),
    Row("space", "updated_at", _CLOCK, moment),
    Row("space", "fenced_context_ids", _SET, as_set),
    Row("subject", "created_at", _CLOCK, moment),
    Row("subject", "updated_at", _CLOCK, moment),
    Row("grant", "created_at", _CLOCK, moment),
    Row("grant", "revoked_at", _CLOCK, moment),
    Row("grant", "expires_at", _CLOCK, as_instant),
    Row("grant", "capabilities", _SET, as_set),
    Row("grant", "subject_ids", _SET, as_set),
    Row("grant", "context_ids", _SET, as_set),
    Row("candidate", "created_at", _CLOCK, moment),
    Row("candidate", "updated_at", _CLOCK, moment),
    Row("candidate", "classification", "classification is advisory only (section 3), but for its signal.", classification),
    Row("outcome", "decided_at", _CLOCK, moment),
    Row("record", "created_at", _CLOCK, moment),
    Row("record", "updated_at", _CLOCK, moment),
    Row("tombstone", "deleted_at", _CLOCK, moment),
    Row("profile", "created_at", _CLOCK, moment),
    Row("profile", "updated_at", _CLOCK, moment),
    Row("reflection", "created_at", "Generation is made at the request or when it settles (section 7, Pending).", free),
    Row("reflection", "text", "The synthesis is the engine's (section 7, Reflections); once made it stays.", free),
    Row("basis", "state_digest", _FORM, paired_digest),
    Row("basis", "records", "basis.records and basis.profiles are sets: their order says nothing (section 3).", as_set),
    Row("basis", "profiles", "basis.records and basis.profiles are sets: their order says nothing (section 3).", as_set),
    Row("receipt", "created_at", _CLOCK, moment),
    Row("receipt", "settled_at", _CLOCK, moment),
    Row("receipt", "affected", "Their id is there while pending (section 4): of the space it is not said.", affected),
    Row("travelling reflection", "stale", "stale is computed at read (section 3): an export has no reader.", free),
    Row("travelling reflection", "created_at", "As of a reflection.", free),
    Row("travelling reflection", "text", "As of a reflection.", free),
    Row("reflections.state", "state_digest", _FORM, paired_digest),
    Row("reflections.state", "missing_required_kinds", _SET, as_set),
    Row("profile.get", "missing_kinds", _SET, as_set),
    Row("describe", "capabilities", _SET, as_set),
    Row("describe", "cognition_dimensions", _SET, as_set),
    Row("describe", "required_profile_kinds", _SET, as_set),
    # choices that are followed
    Row(EVERY, "id", "Id: string, 1..128 characters, opaque (section 1).", by="model.Ids: the target names"),
    Row("every operation", "now", _CLOCK, by="the model's clock is set with the target's, or follows its receipts"),
    Row("describe", "limits", _ANNOUNCED, by="model.Model"),
    Row("describe", "protocol_version", _ANNOUNCED, by="model.Model"),
    Row("describe", "engine_policy_version", _ANNOUNCED, by="model.Model"),
    Row("every list", "order", _ORDER, by="chains: the union of the pages is compared, and order with itself"),
    Row("every list", "default limit", "The default limit is the provider's (section 4, page).", by="chains"),
    Row(
        "every list", "length of a page",
        "Pages of one cursor chain give every item exactly once (section 7, Lists); no page need be filled.",
        by="chains: a page holds at most its limit, and one item where more follows",
    ),
    Row("every list", "next_cursor", "A cursor is bound to principal, operation and all request members but page.", by="chains"),
    Row(
        "every list", "death of a cursor",
        "A provider may also let it die at any other committed change; whether it outlives a restart is left to it (section 7).",
        by="chains: a cursor must die, must live, or may do either",
    ),
    Row("recall", "records", "A byte budget is filled by prefix or by skipping (section 7, Recall).", by="recalls"),
    Row("every refusal", "code where coverage lacks", _EITHER_ANSWER, by="freedom.EITHER"),
    Row(
        "every refusal", "code where two reasons meet",
        "A check never depends on a [profile] order of errors when two violations are present at once (preamble).",
        by="reasons: the codes of all violations, but for the orders that [ref] fixes",
    ),
    Row(
        "a failed activation", "code where two reasons meet",
        "A check never depends on a [profile] order of errors when two violations are present at once (preamble).",
        by="comparison.failing: the codes of all reasons that there were when it settled",
    ),
    Row(
        "a cognition filter", "code without its flag",
        "capability_missing, or invalid_input with unsupported_cognition_requirement (section 2).", by="disagreement.Comparison",
    ),
    Row("every refusal", "message, further details", "details is an optional open object (section 1).", by="judging.DETAILS"),
    Row(
        "grants.grant", "combined issuance",
        "Issuance covered only by combining grants point by point is left to the provider (section 5).",
        by="judging.ALTERNATIVES",
    ),
    Row(
        "grants.grant", "expired issuance", "Issuance that is expired from the start is left to the provider (section 5).",
        by="judging.ALTERNATIVES, and overdue, whatever it covers",
    ),
    Row(
        "grants.revoke", "cascade", "Whether grants issued under it fall too is left to the provider (section 5).",
        by="cascades: what fell is looked up, and must have been issued under what was revoked",
    ),
    Row(
        "candidates.review", "discard", "discard: review; a provider may demand records_write too (section 4).",
        by="judging.ALTERNATIVES",
    ),
    Row(
        "imports.stage", "early defect", "An earlier defect may be refused at once with IMPORT_INVALID (section 7, Transfer).",
        by="judging.ALTERNATIVES",
    ),
    Row(
        "imports.stage", "code of another bundle", "bundle*, the same on every call (section 4); no code is named for another.",
        by="judging.OTHER_BUNDLE",
    ),
    Row("four operations", "pending", "A provider may also answer them committed at once (section 4).", by="duo: waits or holds"),
    Row("exports.get", "items, chunks", "A chunked logical export: order and cut are the provider's (section 3).", by="parcels"),
)  # fmt: skip


EITHER: Mapping[Code, Code] = {Code.NOT_AUTHORIZED: Code.NOT_FOUND}
"""A refusal that another may stand for (section 5, Visibility); what is hidden is NOT_FOUND and nothing else."""


def members(how: Comparator) -> frozenset[str]:
    """Name the members, of whatever object, that are compared in this way."""
    return frozenset(row.member for row in FREEDOM if row.how is how)


def members_of(model: str, how: Comparator | None = None) -> frozenset[str]:
    """Name the members of an object that are left open: all, or those that are compared in this way."""
    return frozenset(row.member for row in FREEDOM if row.of == model and how in (None, row.how))


def _table(of: str, **inner: Comparator) -> Mapping[str, Comparator]:
    return {**{row.member: row.how for row in FREEDOM if row.of in (of, EVERY) and row.how is not None}, **inner}


SPACE = document(_table("space"))
SUBJECT = document(_table("subject"))
GRANT = document(_table("grant"))
CANDIDATE = document(_table("candidate", outcome=document(_table("outcome"))))
RECORD = document(_table("record", tombstone=document(_table("tombstone"))))
PROFILE = document(_table("profile"))
_BASIS = document(_table("basis"))
REFLECTION = keeping("reflection_id", ("created_at", "text"), document(_table("reflection", basis=_BASIS)))
TRAVELLING = keeping("reflection_id", ("created_at", "text"), document(_table("travelling reflection", basis=_BASIS)))
RECEIPT = failing(document(_table("receipt")))
BUNDLE = document(_table("bundle"))

# Each listed document with the member that names it.
ITEMS: Mapping[str, tuple[str, Comparator]] = {
    "spaces": ("space_id", SPACE),
    "grants": ("grant_id", GRANT),
    "candidates": ("candidate_id", CANDIDATE),
    "records": ("record_id", RECORD),
    "reflections": ("reflection_id", REFLECTION),
}

# Each type of item of an export with what names it.
TRAVELS: Mapping[str, Comparator] = {
    "subject": listed(itemgetter("subject_id"), SUBJECT),
    "context_fence": listed(itemgetter("context_id"), document({})),
    "record": listed(itemgetter("record_id"), RECORD),
    "candidate": listed(itemgetter("candidate_id"), CANDIDATE),
    "profile": listed(itemgetter("subject_id", "kind"), PROFILE),
    "reflection": listed(itemgetter("reflection_id"), TRAVELLING),
    "receipt": listed(itemgetter("receipt_id"), RECEIPT),
}

_MUTATION = document({"receipt": RECEIPT})

# The success members of each read that is no list; a mutation gives its receipt.
ANSWERS: Mapping[str, Comparator] = {
    "memory.describe": document(_table("describe")),
    "memory.subjects.get": document({"subject": SUBJECT}),
    "memory.candidates.get": document({"candidate": CANDIDATE}),
    "memory.records.get": document({"record": RECORD}),
    "memory.profile.get": document(_table("profile.get", documents=listed(itemgetter("subject_id", "kind"), PROFILE))),
    "memory.receipts.get": document({"receipt": RECEIPT}),
    "memory.reflections.state": document(_table("reflections.state")),
    "memory.exports.get": document({}),
}


def answer(op: str) -> Comparator:
    """Give the comparator of an operation's success members."""
    return ANSWERS.get(op, _MUTATION)
