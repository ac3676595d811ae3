"""Where a target string leads, for the one who opens it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.wire.bundle import Bundle

DEADLINE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Route:
    """Where to go and with what: ``rest`` is the target string after its scheme.

    ``deadline`` is in seconds a call; ``flags`` are those of the target file (None: it names none); ``principals`` maps its
    credentials to the principals that they stand for. ``env`` and ``cwd`` are those of a process that is started, ``headers``
    go along with each HTTP request, and ``token`` is what a control call over HTTP shows. ``ca`` is a file of the certificates
    that a server over TLS is trusted by, instead of the public ones.
    """

    rest: str
    bundle: Bundle
    deadline: float = DEADLINE_SECONDS
    flags: frozenset[str] | None = None
    principals: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    token: str | None = None
    ca: Path | None = None
