"""``memory-conformance serve``: the bundled provider, or one of Python, for others to reach."""

from __future__ import annotations

import importlib.util
import os
import pkgutil
import secrets
import sys
from argparse import Namespace
from pathlib import Path

from conformance.commands.here import find_modules_here
from conformance.errors import BadUsage
from conformance.serving.durable import Durable
from conformance.serving.host import ORACLE, Host, provider_named
from conformance.serving.stdio import serve_stdio
from conformance.serving.supervised import Supervised
from conformance.target import TOKEN_VARIABLE
from conformance.transport.in_process import Provider
from conformance.wire.bundle import Bundle, load

HTTP = "conformance.serving.http"
NEEDED = ("starlette", "uvicorn")


def main(options: Namespace) -> int:
    """Serve until the input ends, or a signal comes. Raises ``BadInput`` for what a person got wrong."""
    find_modules_here()
    bundle = load(options.schemas)
    if options.stdio:
        serve_stdio(Host(_provider(options, bundle), bundle), sys.stdin.buffer, sys.stdout.buffer)
    else:
        _http(Host(_at_a_distance(options, bundle), bundle), options.http)
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


def _http(host: Host, port: int) -> None:
    """Serve over HTTP. By name, since the extra that it needs may not be installed."""
    lacking = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if lacking:
        raise BadUsage(f"serve --http needs {' and '.join(lacking)}: install memory-conformance[serve].")
    if not 0 <= port < 2**16:
        raise BadUsage(f"--http {port}: a port is 0 (any free one) to 65535.")
    try:
        opened = pkgutil.resolve_name(f"{HTTP}:listening")(port)
    except OSError as error:
        raise BadUsage(f"--http {port}: the port cannot be had: {error.strerror}.") from error
    token = os.environ.get(TOKEN_VARIABLE) or _told(secrets.token_urlsafe(24))
    sys.stderr.write(f"serving on http://{opened.getsockname()[0]}:{opened.getsockname()[1]}\n")
    sys.stderr.flush()
    pkgutil.resolve_name(f"{HTTP}:serve_http")(host, token, opened)


def _told(token: str) -> str:
    sys.stderr.write(f"harness token (set {TOKEN_VARIABLE} to choose one): {token}\n")
    return token
