"""``target.toml``: a target string with what the provider cannot tell (harness.md, Target strings).

target = "python:shop.memory:make"     # required
flags = ["…"]                          # what is served, where there is no control.hello
deadline = 10.0                        # seconds a call
[[principals]]                         # a pool of principals without grants
principal_id = "…"
credential = "…"
[[spaces]]                             # spaces with the principal that holds one grant of everything
space_id = "…"
root = { principal_id = "…", credential = "…" }
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from conformance.errors import BadTarget
from conformance.levers import Home, Login
from conformance.transport.route import DEADLINE_SECONDS


@dataclass(frozen=True, slots=True)
class TargetFile:
    """What a target file says. ``flags`` None: it names none."""

    target: str
    flags: frozenset[str] | None = None
    deadline: float = DEADLINE_SECONDS
    logins: tuple[Login, ...] = ()
    homes: tuple[Home, ...] = ()

    @property
    def everyone(self) -> tuple[Login, ...]:
        """All principals that the file names."""
        return (*self.logins, *(home.root for home in self.homes))


def read_target_file(path: Path) -> TargetFile:
    """Read a target file. Raises ``BadTarget``, one sentence with the file and the key."""
    table = _parsed(path)
    for key in table:
        if key not in _READERS:
            raise BadTarget(f"{path}: there is no key {key!r}: the keys are {', '.join(_READERS)}.")
    if "target" not in table:
        raise BadTarget(f"{path}: the key 'target' is missing.")
    try:
        return TargetFile(**dict(_READERS[key](key, value) for key, value in table.items()))
    except _Wrong as wrong:
        raise BadTarget(f"{path}: {wrong}.") from wrong


class _Wrong(Exception):
    """A value of the wrong type; the text names the key."""


def _parsed(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadTarget(f"{path}: the target file cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise BadTarget(f"{path}: not TOML: {error}.") from error


def _target(key: str, value: Any) -> tuple[str, str]:
    return "target", _text(key, value)


def _flags(key: str, value: Any) -> tuple[str, frozenset[str]]:
    return "flags", frozenset(_text(f"{key}[{index}]", flag) for index, flag in enumerate(_array(key, value)))


def _deadline(key: str, value: Any) -> tuple[str, float]:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise _Wrong(f"{key!r} must be a positive number of seconds, not {value!r}")
    return "deadline", float(value)


def _principals(key: str, value: Any) -> tuple[str, tuple[Login, ...]]:
    return "logins", tuple(_login(f"{key}[{index}]", row) for index, row in enumerate(_array(key, value)))


def _spaces(key: str, value: Any) -> tuple[str, tuple[Home, ...]]:
    return "homes", tuple(_home(f"{key}[{index}]", row) for index, row in enumerate(_array(key, value)))


def _home(key: str, value: Any) -> Home:
    row = _members(key, value, "space_id", "root")
    return Home(_text(f"{key}.space_id", row["space_id"]), _login(f"{key}.root", row["root"]), shared=True)


def _login(key: str, value: Any) -> Login:
    row = _members(key, value, "principal_id", "credential")
    return Login(*(_text(f"{key}.{name}", row[name]) for name in ("principal_id", "credential")))


def _members(key: str, value: Any, *names: str) -> Mapping[str, Any]:
    if not isinstance(value, dict) or sorted(value) != sorted(names):
        raise _Wrong(f"{key!r} must be a table with exactly {' and '.join(map(repr, names))}")
    return value


def _array(key: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _Wrong(f"{key!r} must be an array, not {value!r}")
    return value


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _Wrong(f"{key!r} must be a non-empty string, not {value!r}")
    return value


# key of the file -> reader of its value, which gives the field of ``TargetFile`` and its value
_READERS: Mapping[str, Callable[[str, Any], tuple[str, Any]]] = MappingProxyType(
    {"target": _target, "flags": _flags, "deadline": _deadline, "principals": _principals, "spaces": _spaces}
)
