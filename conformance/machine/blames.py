"""Which rule a disagreement breaks: by the code that should have come, by the code that came, or by the member that differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.wire.vocabulary import Code

# The rule of a refusal: broken by accepting what it refuses, by refusing so what is right, by telling it as another.
OF_CODE: Mapping[Code, str] = {
    Code.UNKNOWN_OPERATION: "R002",
    Code.FLAG_NOT_NEGOTIATED: "R002",
    Code.MALFORMED_REQUEST: "R004",
    Code.NOT_AUTHENTICATED: "R003",
    Code.INTERNAL: "R004",
    Code.INVALID_VALUE: "R019",
    Code.NOT_FOUND: "R010",
    Code.NOT_AUTHORIZED: "R010",
    Code.REVISION_STALE: "R016",
    Code.REVISION_AHEAD: "R016",
    Code.KEY_REUSED: "R014",
    Code.SPACE_FROZEN: "R006",
    Code.SPACE_NOT_FROZEN: "R027",
    Code.SUBJECT_FENCED: "R009",
    Code.CONTEXT_FENCED: "R009",
    Code.SUBJECT_ARCHIVED: "R009",
    Code.CANDIDATE_CONSUMED: "R018",
    Code.RECORD_TOMBSTONED: "R021",
    Code.CURSOR_INVALID: "R022",
    Code.LIMIT_EXCEEDED: "R019",
    Code.PROFILE_INCOMPLETE: "R026",
    Code.INSUFFICIENT_DATA: "R026",
    Code.IMPORT_SEQUENCE: "R027",
    Code.IMPORT_INVALID: "R027",
}

ACTIVATE = "memory.imports.activate"
GENERATIONS = frozenset({Code.REVISION_STALE, Code.REVISION_AHEAD})

# Where the state is wrong, the operation says whose rule it is.
OF_STATE: Mapping[str, str] = {
    "memory.spaces.freeze": "R006",
    "memory.spaces.unfreeze": "R006",
    "memory.subjects.ensure": "R008",
    "memory.subjects.fence": "R009",
    "memory.grants.revoke": "R012",
    "memory.records.promote": "R020",
}

# Where a limit is exceeded: pages and chunks have limits of their own, all else is content.
OF_LIMIT: Sequence[tuple[str, str]] = ((".list", "R022"), ("memory.exports.", "R027"), ("memory.imports.", "R027"))

# The rule of an operation, where nothing nearer is known.
OF_OPERATION: Sequence[tuple[str, str]] = (
    ("memory.describe", "R002"),
    ("memory.spaces", "R006"),
    ("memory.subjects.fence", "R009"),
    ("memory.subjects", "R008"),
    ("memory.grants.revoke", "R012"),
    ("memory.grants.grant", "R011"),
    ("memory.grants", "R012"),
    ("memory.capture", "R017"),
    ("memory.candidates", "R018"),
    ("memory.records.promote", "R020"),
    ("memory.records.list", "R022"),
    ("memory.records.delete", "R021"),
    ("memory.records", "R020"),
    ("memory.recall", "R023"),
    ("memory.profile", "R026"),
    ("memory.receipts", "R015"),
    ("memory.reflections", "R026"),
    ("memory.exports", "R027"),
    ("memory.imports", "R027"),
    ("control.", "R014"),
)

# The rule of a member, by a name in its pointer; the first that is there counts.
OF_MEMBER: Sequence[tuple[str, str]] = (
    ("tombstone", "R021"),
    ("pending_receipts", "R007"),
    ("authority_generation", "R005"),
    ("fenced_context_ids", "R009"),
    ("classification", "R017"),
    ("capture_scope", "R017"),
    ("cognition", "R024"),
    ("outcome", "R018"),
    ("provenance", "R020"),
    ("scope", "R020"),
    ("truncated", "R023"),
    ("used_bytes", "R023"),
    ("total_authorized", "R022"),
    ("next_cursor", "R022"),
    ("payload_digest", "R015"),
    ("revision", "R016"),
    ("affected", "R015"),
    ("extensions", "R001"),
    ("schema_version", "R001"),
)


def of_code(op: str, code: Code | None) -> str:
    """Name the rule of a refusal of an operation."""
    if code is Code.WRONG_STATE:
        return OF_STATE.get(op, "R027")
    if code is Code.LIMIT_EXCEEDED:
        return next((rule for part, rule in OF_LIMIT if part in op), OF_CODE[code])
    if code in GENERATIONS and op == ACTIVATE:
        return "R005"
    return OF_CODE[code] if code is not None else of_operation(op)


def of_operation(op: str) -> str:
    """Name the rule of an operation."""
    return next((rule for stem, rule in OF_OPERATION if op.startswith(stem)), "R004")


def of_member(op: str, pointer: str) -> str:
    """Name the rule of a member of an operation's answer."""
    names = pointer.split("/")
    return next((rule for member, rule in OF_MEMBER if member in names), of_operation(op))
