"""The envelopes of a connect session: what each holds, what of it is signed, and what makes it believed."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from conformance.connect.identity import Identity, Untrusted, check_signature

Envelope = dict[str, Any]

CONNECT = "spoke-connect"
"""The capability of who speaks connect at all."""
NAMESPACE = "memory"
TOOL = "tools.memory.call"
"""The capability and the operation of who takes memory calls as a tool: their plain form is the tool's arguments."""
HELLO_VERSION = 1
NONCE_FLOOR = 16
LAST_SEQUENCE = 2**53 - 1
OUTSIDE = frozenset({"signature", "extensions"})
"""What no signature covers."""


@dataclass(frozen=True, slots=True)
class Form:
    """The members that an envelope must have and may have, beside ``signature`` and ``extensions``; all of them are signed."""

    required: frozenset[str]
    optional: frozenset[str] = frozenset()
    one_of: frozenset[str] = frozenset()


HELLO = Form(frozenset({"protocol_version", "peer_id", "nonce", "host"}), frozenset({"peer_nonce"}))
SESSION = Form(
    frozenset(
        {"session_id", "initiator_peer_id", "responder_peer_id", "opened_at", "negotiated_capabilities", "initial_sequence"}
    )
)
REQUEST = Form(frozenset({"session_id", "sequence", "request_id", "op", "payload"}), frozenset({"auth"}))
RESPONSE = Form(frozenset({"session_id", "sequence", "request_id"}), one_of=frozenset({"payload", "error"}))
ECHOED = ("session_id", "sequence", "request_id")


def signed(identity: Identity, members: Mapping[str, Any]) -> Envelope:
    """Return an envelope with its signature. Raises ``NotCanonical``."""
    return {**members, "signature": identity.sign(dict(members)), "extensions": {}}


def believed(form: Form, envelope: Any, peer_id: str) -> Envelope:
    """Return the signed members of an envelope of the peer's. Raises ``Untrusted``."""
    members = shaped(form, envelope)
    check_signature(peer_id, members, envelope["signature"])
    return members


def shaped(form: Form, envelope: Any) -> Envelope:
    """Return the members of an envelope that are signed. Raises ``Untrusted`` where it has not the members of its form."""
    if not isinstance(envelope, dict) or not set(envelope) >= OUTSIDE:
        raise Untrusted("no envelope with 'signature' and 'extensions'")
    if not isinstance(envelope["extensions"], dict):
        raise Untrusted("'extensions' is no object")
    members = {name: value for name, value in envelope.items() if name not in OUTSIDE}
    chosen = form.one_of & set(members)
    if not form.required <= set(members) <= form.required | form.optional | form.one_of or len(chosen) != bool(form.one_of):
        raise Untrusted(f"an envelope with other members than its own: {', '.join(sorted(members))}")
    return members


def manifest(host_id: str, roles: Iterable[str], flags: Iterable[str]) -> Envelope:
    """Return a host's manifest, which declares connect and capability flags."""
    return {
        "schema_version": 1,
        "host_id": host_id,
        "roles": list(roles),
        "capabilities": [CONNECT, *sorted(set(flags) - {CONNECT})],
        "namespaces": [NAMESPACE],
        "extensions": {},
    }


def hello(identity: Identity, host: Envelope, peer_nonce: str | None = None) -> Envelope:
    """Return a signed hello; a responder binds it to the nonce of the one who dialled."""
    members = {"protocol_version": HELLO_VERSION, "peer_id": identity.peer_id, "nonce": secrets.token_urlsafe(24), "host": host}
    return signed(identity, members if peer_nonce is None else {**members, "peer_nonce": peer_nonce})


def greeted(envelope: Any, *, peer_nonce: str | None = None) -> Envelope:
    """Return the members of a hello that can be believed. Raises ``Untrusted``.

    ``peer_nonce`` is one's own nonce where one has dialled: the answer is bound to it.
    """
    members = shaped(HELLO, envelope)
    if members["protocol_version"] != HELLO_VERSION:
        raise Untrusted(f"protocol version {members['protocol_version']!r} in a hello, which is {HELLO_VERSION}")
    if not isinstance(members["peer_id"], str) or not isinstance(members["nonce"], str) or len(members["nonce"]) < NONCE_FLOOR:
        raise Untrusted("a hello without a peer id or a nonce")
    if members.get("peer_nonce") != peer_nonce:
        raise Untrusted("the hello is not bound to this dial")
    check_signature(members["peer_id"], members, envelope["signature"])
    capabilities_of(members)
    return members


def capabilities_of(greeting: Mapping[str, Any]) -> frozenset[str]:
    """Return the capabilities that a hello's manifest declares. Raises ``Untrusted``."""
    host = greeting["host"]
    declared = host.get("capabilities") if isinstance(host, dict) else None
    if not isinstance(declared, list) or not all(isinstance(flag, str) for flag in declared):
        raise Untrusted("a hello whose manifest declares no capabilities")
    return frozenset(declared)


def session(identity: Identity, initiator: str, negotiated: Iterable[str]) -> Envelope:
    """Return the signed session that a responder opens."""
    return signed(
        identity,
        {
            "session_id": secrets.token_hex(16),
            "initiator_peer_id": initiator,
            "responder_peer_id": identity.peer_id,
            "opened_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "negotiated_capabilities": sorted(negotiated),
            "initial_sequence": 0,
        },
    )


def opened(envelope: Any, initiator: str, responder: str) -> Envelope:
    """Return the members of a session that can be believed. Raises ``Untrusted``."""
    members = believed(SESSION, envelope, responder)
    if (members["initiator_peer_id"], members["responder_peer_id"], members["initial_sequence"]) != (initiator, responder, 0):
        raise Untrusted("the session is of other peers, or does not begin at 0")
    if not isinstance(members["session_id"], str) or not isinstance(members["negotiated_capabilities"], list):
        raise Untrusted("the session has no id or no negotiated capabilities")
    return members


def echo(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a response repeats of its request."""
    return MappingProxyType({name: request[name] for name in ECHOED})
