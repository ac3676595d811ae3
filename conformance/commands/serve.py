"""``memory-conformance serve``: the bundled provider, or one of Python, for others to reach."""

from __future__ import annotations

import importlib.util
import os
import pkgutil
import secrets
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from conformance.commands.here import find_modules_here
from conformance.errors import BadUsage
from conformance.serving.durable import Durable
from conformance.serving.host import ORACLE, Host, provider_named
from conformance.serving.sockets import listening
from conformance.serving.stdio import serve_stdio
from conformance.serving.supervised import Supervised
from conformance.target import TOKEN_VARIABLE
from conformance.transport.in_process import Provider
from conformance.wire.bundle import Bundle, load

SERVERS: Mapping[str, str] = MappingProxyType(
    {"http": "conformance.serving.http:serve_http", "ws": "conformance.serving.ws:serve_ws"}
)
NEEDED: Mapping[str, tuple[str, ...]] = MappingProxyType({"http": ("starlette", "uvicorn"), "ws": ()})


def main(options: Namespace) -> int:
    """Serve until the input ends, or a signal comes. Raises ``BadInput`` for what a person got wrong."""
    find_modules_here()
    bundle = load(options.schemas)
    if options.stdio:
        serve_stdio(Host(_provider(options, bundle), bundle), sys.stdin.buffer, sys.stdout.buffer)
    else:
        way, port = ("http", options.http) if options.http is not None else ("ws", options.ws)
        _listening(Host(_at_a_distance(options, bundle), bundle), way, port)
    return 0


def _provider(options: Namespace, bundle: Bundle) -> Provider:
    if options.db is None:
        return provider_named(options.provider, bundle)
    if options.provider != ORACLE:
        raise BadUsage(f"--db is the file of the bundled provider; {options.provider} keeps its own.")
    return Durable(Path(options.db), bundle)


def _at_a_distance(options: Namespace, bundle: Bundle) -> Provider:
    """Return a provider for those who cannot kill it themselves: a durable one is in a process of its own, which can be."""
    provider = _provider(options, bundle)
    if not isinstance(provider, Durable):
        return provider
    provider.close()
    schemas = () if options.schemas is None else ("--schemas", options.schemas)
    return Supervised([sys.executable, "-m", "conformance.cli", "serve", "--stdio", "--db", options.db, *schemas])


def _listening(host: Host, way: str, port: int) -> None:
    """Serve over HTTP or WebSocket. By name, since what is needed for it costs other commands their start, or is not there."""
    lacking = [name for name in NEEDED[way] if importlib.util.find_spec(name) is None]
    if lacking:
        raise BadUsage(f"serve --{way} needs {' and '.join(lacking)}: install memory-conformance[serve].")
    if not 0 <= port < 2**16:
        raise BadUsage(f"--{way} {port}: a port is 0 (any free one) to 65535.")
    try:
        opened = listening(port)
    except OSError as error:
        raise BadUsage(f"--{way} {port}: the port cannot be had: {error.strerror}.") from error
    token = os.environ.get(TOKEN_VARIABLE) or _told(secrets.token_urlsafe(24))
    sys.stderr.write(f"serving on {way}://{opened.getsockname()[0]}:{opened.getsockname()[1]}\n")
    sys.stderr.flush()
    pkgutil.resolve_name(SERVERS[way])(host, token, opened)


def _told(token: str) -> str:
    sys.stderr.write(f"harness token (set {TOKEN_VARIABLE} to choose one): {token}\n")
    return token
