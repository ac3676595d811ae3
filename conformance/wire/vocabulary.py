"""The symbols by which code names errors, flags, reasons and fields.

The strings that travel stand in ``errors.json`` and ``operations.json`` alone (protocol.md, preamble: a [profile] decision
lives in data). Code says ``Code.REVISION_STALE``; what that is on the wire is the bundle's to say, so an official vocabulary
is an edit of two tables. ``tests/test_bundle.py`` holds the tables and these enumerations together.
"""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """An error of the contract (protocol.md section 8)."""

    UNKNOWN_OPERATION = "unknown_operation"
    FLAG_NOT_NEGOTIATED = "flag_not_negotiated"
    MALFORMED_REQUEST = "malformed_request"
    NOT_AUTHENTICATED = "not_authenticated"
    INTERNAL = "internal"
    INVALID_VALUE = "invalid_value"
    NOT_FOUND = "not_found"
    NOT_AUTHORIZED = "not_authorized"
    REVISION_STALE = "revision_stale"
    REVISION_AHEAD = "revision_ahead"
    KEY_REUSED = "key_reused"
    WRONG_STATE = "wrong_state"
    SPACE_FROZEN = "space_frozen"
    SPACE_NOT_FROZEN = "space_not_frozen"
    SUBJECT_FENCED = "subject_fenced"
    CONTEXT_FENCED = "context_fenced"
    SUBJECT_ARCHIVED = "subject_archived"
    CANDIDATE_CONSUMED = "candidate_consumed"
    RECORD_TOMBSTONED = "record_tombstoned"
    CURSOR_INVALID = "cursor_invalid"
    LIMIT_EXCEEDED = "limit_exceeded"
    PROFILE_INCOMPLETE = "profile_incomplete"
    INSUFFICIENT_DATA = "insufficient_data"
    IMPORT_SEQUENCE = "import_sequence"
    IMPORT_INVALID = "import_invalid"


class Flag(StrEnum):
    """A capability flag (protocol.md section 2)."""

    CORE = "core"
    REFLECTION = "reflection"
    TRANSFER = "transfer"
    COGNITION = "cognition"


class Reason(StrEnum):
    """A value of ``details.reason`` that the contract fixes."""

    BAD_COGNITION_RECORD = "bad_cognition_record"
    UNSUPPORTED_COGNITION = "unsupported_cognition"
    GRANT_EXCEEDS_ISSUER = "grant_exceeds_issuer"


class Field(StrEnum):
    """A value of ``details.field`` that the contract fixes."""

    COGNITION = "cognition"
    DECISION_KIND = "decision_kind"
    TO_SUBJECT = "to_subject"
