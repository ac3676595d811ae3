"""The envelopes of connect as JSON schemas, written from its field tables (docs/reference/connect.md of SPOKE, 0.11.1)."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string", "minLength": 1}
SIGNATURE: Schema = {"type": "string", "minLength": 86, "maxLength": 86, "pattern": "^[A-Za-z0-9_-]{86}$"}
SEQUENCE: Schema = {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}
EXTENSIONS: Schema = {
    "type": "object",
    "propertyNames": {"pattern": "^[a-z][a-z0-9_-]*$"},
    "additionalProperties": {"type": "object"},
}
SOME: Schema = {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string"}}


def closed(required: Schema, optional: Schema | None = None) -> Schema:
    return {
        "type": "object",
        "required": sorted(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
    }


MANIFEST = closed(
    {
        "schema_version": {"type": "integer", "minimum": 1},
        "host_id": TEXT,
        "roles": SOME,
        "capabilities": SOME,
        "namespaces": {**SOME, "items": {"type": "string", "pattern": "^[a-z][a-z0-9_-]*$"}},
        "extensions": EXTENSIONS,
    }
)
ERROR = closed({"code": TEXT, "message": {"type": "string"}, "extensions": EXTENSIONS}, {"details": {"type": "object"}})
ECHO: Schema = {"session_id": TEXT, "sequence": SEQUENCE, "request_id": TEXT, "signature": SIGNATURE, "extensions": EXTENSIONS}
SCHEMAS: dict[str, Schema] = {
    "connect-hello": closed(
        {
            "protocol_version": {"type": "integer", "minimum": 1},
            "peer_id": TEXT,
            "nonce": {"type": "string", "minLength": 16},
            "host": MANIFEST,
            "signature": SIGNATURE,
            "extensions": EXTENSIONS,
        },
        {"peer_nonce": {"type": "string", "minLength": 16}},
    ),
    "connect-session": closed(
        {
            "session_id": TEXT,
            "initiator_peer_id": TEXT,
            "responder_peer_id": TEXT,
            "opened_at": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"},
            "negotiated_capabilities": SOME,
            "initial_sequence": {"const": 0},
            "signature": SIGNATURE,
            "extensions": EXTENSIONS,
        }
    ),
    "connect-invoke-request": closed({**ECHO, "op": TEXT, "payload": {}}, {"auth": {}}),
    "connect-invoke-response": {"oneOf": [closed({**ECHO, "payload": {}}), closed({**ECHO, "error": ERROR})]},
}
