"""What a certificate requires: the checks that must pass, by what the provider offers, frozen for each version of the suite.

``core`` holds for everyone; ``+reflection``, ``+transfer`` and ``+cognition`` come with their flags, and a set of two flags
(``+cognition+transfer``) where a provider declares both. The file beside the rules holds the sets of the versions that were
released; a released one is never changed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from conformance.catalogue import PACKAGE
from conformance.check import Check
from conformance.wire.bundle import Bundle
from conformance.wire.canonical import digest
from conformance.wire.vocabulary import Flag

FILE = "requirements.json"
CORE = "core"
_OTHERS = (Flag.COGNITION, Flag.REFLECTION, Flag.TRANSFER)

Sets = Mapping[str, Sequence[str]]
"""Name of a set -> ids of its checks, in order."""


def label(flags: Collection[Flag]) -> str:
    """Return the name of the set of the checks that need these flags."""
    return "".join(f"+{flag.value}" for flag in _OTHERS if flag in flags) or CORE


def sets_of(checks: Iterable[Check]) -> dict[str, list[str]]:
    """Sort checks into their sets."""
    found: dict[str, list[str]] = {CORE: []}
    for check in checks:
        found.setdefault(label(check.flags), []).append(check.check_id)
    return dict(sorted(found.items(), key=lambda entry: (entry[0] != CORE, entry[0])))


@cache
def frozen() -> Mapping[str, Sets]:
    """Return the sets of each version of the suite that this installation knows."""
    file = resources.files(PACKAGE).joinpath(FILE)
    found: Mapping[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return found


def sets_digest(sets: Sets) -> str:
    """Return the digest of the sets of one version."""
    return digest({name: list(checks) for name, checks in sets.items()})


def claimed(flags: Collection[str], bundle: Bundle) -> list[str]:
    """Return the sets that a provider claims that declares ``flags`` (wire strings)."""
    return [CORE, *(f"+{flag.value}" for flag in _OTHERS if bundle.flag(flag) in flags)]


def required(sets: Sets, claims: Sequence[str]) -> list[str]:
    """Return the checks that must pass: those of all sets of which every part is claimed."""
    return [check for name, checks in sets.items() if _parts(name) <= set(claims) for check in checks]


def _parts(name: str) -> set[str]:
    return {CORE} if name == CORE else {f"+{part}" for part in name.split("+") if part}
