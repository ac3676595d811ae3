"""An Ed25519 key, and the libp2p peer id that stands for it: base58btc of the identity multihash of the protobuf key."""

from __future__ import annotations

import base64
import hashlib
import secrets
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from conformance.wire.canonical import canonical

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
PREFIX = bytes((0x00, 0x24, 0x08, 0x01, 0x12, 0x20))
"""The identity multihash, its length, and the protobuf ``PublicKey``'s type (Ed25519) and length of data."""
KEY_LENGTH = 32
SIGNATURE_LENGTH = 64
PURPOSE = b"memory-conformance connect\x00"
HOST = b"host\x00"


class Untrusted(Exception):
    """What a peer sent cannot be believed: the text says why."""


class Identity:
    """A key that signs; ``seed`` are its 32 bytes."""

    def __init__(self, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.peer_id = peer_id_of(self._key.public_key().public_bytes_raw())

    @classmethod
    def fresh(cls) -> Identity:
        """Make one that nobody has."""
        return cls(secrets.token_bytes(KEY_LENGTH))

    @classmethod
    def of_token(cls, token: str) -> Identity:
        """Make the suite's, as all who know the harness token can: a host allows its peer id."""
        return cls(hashlib.sha256(PURPOSE + token.encode()).digest())

    @classmethod
    def of_host(cls, token: str) -> Identity:
        """Make that of a provider which is served here, so that a peer who wants to know its key beforehand can."""
        return cls(hashlib.sha256(PURPOSE + HOST + token.encode()).digest())

    def sign(self, value: Any) -> str:
        """Sign the canonical form of a JSON value: base64url without padding. Raises ``NotCanonical``."""
        return _coded(self._key.sign(canonical(value)))


def peer_id_of(key: bytes) -> str:
    """Return the peer id of a raw public key."""
    return _base58(PREFIX + key)


def check_signature(peer_id: str, value: Any, signature: object) -> None:
    """See that the key behind ``peer_id`` signed a JSON value, in the one right coding. Raises ``Untrusted``."""
    raw = _decoded(signature)
    try:
        Ed25519PublicKey.from_public_bytes(key_of(peer_id)).verify(raw, canonical(value))
    except (InvalidSignature, ValueError) as error:
        raise Untrusted("the signature is not the peer's") from error


def key_of(peer_id: str) -> bytes:
    """Return the raw public key that a peer id stands for. Raises ``Untrusted``."""
    number = 0
    for letter in peer_id:
        digit = ALPHABET.find(letter)
        if digit < 0 or len(peer_id) > 64:
            raise Untrusted("the peer id is none")
        number = number * 58 + digit
    key = (number.to_bytes(64, "big"))[-KEY_LENGTH:] if number < 2**512 else b""
    if peer_id_of(key) != peer_id:
        raise Untrusted("the peer id stands for no Ed25519 key")
    return key


def _coded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _decoded(signature: object) -> bytes:
    try:
        raw = base64.urlsafe_b64decode(f"{signature}==") if isinstance(signature, str) else b""
    except ValueError as error:
        raise Untrusted("the signature is no base64url") from error
    if len(raw) != SIGNATURE_LENGTH or _coded(raw) != signature:
        raise Untrusted("the signature is not 64 bytes in base64url without padding")
    return raw


def _base58(raw: bytes) -> str:
    number, digits = int.from_bytes(raw, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        digits = ALPHABET[digit] + digits
    return ALPHABET[0] * (len(raw) - len(raw.lstrip(b"\x00"))) + digits
