"""DSSE: a signed envelope around a statement (github.com/secure-systems-lab/dsse, protocol.md), signed with Ed25519.

A key is named by the SHA-256 of its public bytes. Nothing in here decides whom to trust: the public key is the reader's.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from conformance.errors import BadInput

PAYLOAD_TYPE = "application/vnd.in-toto+json"


class BadKey(BadInput):
    """A key file cannot be used. The sentence names it."""


class BadEnvelope(ValueError):
    """No envelope, or not signed by the key. The text says why."""


def signed(statement: dict[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    """Return the envelope around a statement."""
    payload = json.dumps(statement, sort_keys=True).encode("ascii")
    signature = {"keyid": key_id(key.public_key()), "sig": base64.b64encode(key.sign(_encoded(payload))).decode("ascii")}
    return {"payloadType": PAYLOAD_TYPE, "payload": base64.b64encode(payload).decode("ascii"), "signatures": [signature]}


def opened(envelope: Any, key: Ed25519PublicKey) -> dict[str, Any]:
    """Return the statement of an envelope that ``key`` has signed. Raises ``BadEnvelope``."""
    match envelope:
        case {"payloadType": str() as kind, "payload": str() as text, "signatures": list() as signatures}:
            payload = _decoded(text)
        case _:
            raise BadEnvelope("it is no DSSE envelope")
    if kind != PAYLOAD_TYPE:
        raise BadEnvelope(f"its payload is of type {kind!r}, not {PAYLOAD_TYPE}")
    if not any(_is_signature(entry, payload, key) for entry in signatures):
        raise BadEnvelope("it is not signed by this key, or it was edited after it was signed")
    try:
        statement = json.loads(payload)
    except ValueError as error:
        raise BadEnvelope(f"its payload is not JSON: {error}") from error
    if not isinstance(statement, dict):
        raise BadEnvelope("its payload is no JSON object")
    return statement


def _is_signature(entry: Any, payload: bytes, key: Ed25519PublicKey) -> bool:
    match entry:
        case {"sig": str() as text}:
            try:
                key.verify(_decoded(text), _encoded(payload))
            except (InvalidSignature, BadEnvelope):
                return False
            return True
    return False


def _encoded(payload: bytes) -> bytes:
    """Return what is signed: the pre-authentication encoding of type and payload."""
    kind = PAYLOAD_TYPE.encode("ascii")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadEnvelope("what should be base64 is not") from error


# -- keys


def key_id(key: Ed25519PublicKey) -> str:
    """Return the name of a key: SHA-256 of its public bytes."""
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()


def new_key(path: Path) -> Path:
    """Write a new private key, that only its owner may read, and beside it the public one, whose path is returned.

    Raises ``BadKey`` where one of the files is there already or cannot be written.
    """
    public = path.with_name(f"{path.name}.pub")
    key = Ed25519PrivateKey.generate()
    _written(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), 0o600)
    _written(public, key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), 0o644)
    return public


def _written(path: Path, text: bytes, mode: int) -> None:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(text)
    except OSError as error:
        raise BadKey(f"{path}: the key cannot be written: {error.strerror}.") from error


def private_key(path: Path) -> Ed25519PrivateKey:
    """Read a private key (PEM, PKCS #8, not encrypted). Raises ``BadKey``."""
    try:
        key = load_pem_private_key(_read(path), None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise BadKey(f"{path}: no private key in PEM without a password.") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise BadKey(f"{path}: the key is not of the kind Ed25519.")
    return key


def public_key(path: Path) -> Ed25519PublicKey:
    """Read a public key (PEM). Raises ``BadKey``."""
    try:
        key = load_pem_public_key(_read(path))
    except (ValueError, UnsupportedAlgorithm) as error:
        raise BadKey(f"{path}: no public key in PEM.") from error
    if not isinstance(key, Ed25519PublicKey):
        raise BadKey(f"{path}: the key is not of the kind Ed25519.")
    return key


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadKey(f"{path}: the key cannot be read: {error.strerror}.") from error
