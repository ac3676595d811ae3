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
env = { NAME = "…" }                   # for a process that is started: that of a stdio target, ``start`` and ``stop``
cwd = "…"                              # where it is started, seen from the directory of the file
token = "…"                            # the harness token of an HTTP target; else MEMORY_HARNESS_TOKEN
headers = { NAME = "…" }               # go along with each HTTP request
ca = "…"                               # a PEM file with the CA that an https: target is trusted by, instead of the public ones
start = "…"                            # a command that starts the server for the run
ready = "…"                            # a pattern (a regular expression) that its output shows when it listens
stop = "…"                             # a command that stops it; without one it is asked by SIGTERM
"""

from __future__ import annotations

import re
import shlex
import ssl
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from conformance.errors import BadTarget
from conformance.levers import Home, Login
from conformance.transport.route import DEADLINE_SECONDS
from conformance.transport.started import Server


@dataclass(frozen=True, slots=True)
class TargetFile:
    """What a target file says. ``flags`` None: it names none."""

    target: str
    flags: frozenset[str] | None = None
    deadline: float = DEADLINE_SECONDS
    logins: tuple[Login, ...] = ()
    homes: tuple[Home, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    token: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    ca: Path | None = None
    start: tuple[str, ...] = ()
    ready: re.Pattern[str] | None = None
    stop: tuple[str, ...] = ()

    @property
    def server(self) -> Server | None:
        """The server that is to be started for a run, None where there is none."""
        return Server(self.start, self.stop, self.ready, self.env, self.cwd) if self.start else None

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
        file = TargetFile(**dict(_READERS[key](key, value) for key, value in table.items()))
        return _consistent(replace(file, cwd=_beside(path, file.cwd), ca=_beside(path, file.ca)))
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


def _beside(file: Path, named: Path | None) -> Path | None:
    """Return what a target file names by a path, which is seen from the directory of the file."""
    return None if named is None else file.parent / named


def _consistent(file: TargetFile) -> TargetFile:
    if file.cwd is not None and not file.cwd.is_dir():
        raise _Wrong(f"'cwd' must be a directory, and {str(file.cwd)!r} is none")
    if (file.stop or file.ready) and not file.start:
        raise _Wrong("'stop' and 'ready' are of a server that 'start' starts, and it is missing")
    if file.ca is not None:
        _see_certificates(file.ca, file.target)
    return file


def _see_certificates(ca: Path, target: str) -> None:
    if not target.startswith(_TLS):
        raise _Wrong(f"'ca' is of a target {_TLS}, and this one is {target!r}")
    try:
        ssl.create_default_context(cafile=ca)
    except OSError as error:  # that of the library too, where the file is none of certificates
        raise _Wrong(f"'ca' must be a PEM file of certificates, and {str(ca)!r} is none: {error.strerror or error}") from error


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


def _path(key: str, value: Any) -> tuple[str, Path]:
    return key, Path(_text(key, value))


def _token(key: str, value: Any) -> tuple[str, str]:
    return key, _text(key, value)


def _names(key: str, value: Any) -> tuple[str, Mapping[str, str]]:
    if not isinstance(value, dict) or not all(isinstance(inner, str) for inner in value.values()):
        raise _Wrong(f"{key!r} must be a table of strings, not {value!r}")
    return key, value


def _headers(key: str, value: Any) -> tuple[str, Mapping[str, str]]:
    for name, text in _names(key, value)[1].items():
        if not _HEADER_NAME.fullmatch(name) or not text.isprintable() or not text.isascii():
            raise _Wrong(f"{f'{key}.{name}'!r} is no HTTP header")
    return key, value


def _command(key: str, value: Any) -> tuple[str, tuple[str, ...]]:
    try:
        return key, tuple(shlex.split(_text(key, value)))
    except ValueError as error:
        raise _Wrong(f"{key!r} is no command: {error}") from error


def _pattern(key: str, value: Any) -> tuple[str, re.Pattern[str]]:
    try:
        return key, re.compile(_text(key, value))
    except re.error as error:
        raise _Wrong(f"{key!r} is no regular expression: {error}") from error


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


_TLS = "https:"
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")

# key of the file -> reader of its value, which gives the field of ``TargetFile`` and its value
_READERS: Mapping[str, Callable[[str, Any], tuple[str, Any]]] = MappingProxyType(
    {
        "target": _target,
        "flags": _flags,
        "deadline": _deadline,
        "principals": _principals,
        "spaces": _spaces,
        "env": _names,
        "cwd": _path,
        "token": _token,
        "headers": _headers,
        "ca": _path,
        "start": _command,
        "ready": _pattern,
        "stop": _command,
    }
)
