"""Which scheme of a target string is opened how (harness.md, Target strings): one table.

An opener takes a ``Route`` and returns a shim. It raises ``BadTarget`` where what the route names cannot be used, and
``NotOffered`` where it is an adapter without a memory family.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from types import MappingProxyType

from conformance.transport.in_process import InProcess
from conformance.transport.python_object import open_object
from conformance.transport.route import Route
from conformance.transport.shim import Shim
from conformance.transport.stdio import open_stdio

# By name, since a transport does not know the oracle.
ORACLE = "conformance.oracle:Oracle"
CLOCK = "conformance.oracle:Clock"
# By name, since its library costs every start of a process that needs it not.
HTTP = "conformance.transport.http:open_http"
HTTPS = "conformance.transport.http:open_https"
CONNECT = "conformance.transport.connect:open_connect"
TUNNEL = "conformance.transport.connect:open_tunnel"

START = 1_767_225_600 * 10**9
"""The oracle's time begins with the year 2026 and goes on by a millisecond each time that it is read."""
STEP = 10**6


@dataclass(frozen=True, slots=True)
class Scheme:
    """``form`` is what a person writes; ``fresh``: each check opens a provider of its own and depends on no other check.

    ``restarts``: the shim itself can restart the provider.
    """

    form: str
    open: Callable[[Route], Shim]
    fresh: bool = False
    restarts: bool = False


def open_oracle(route: Route) -> Shim:
    """Open the bundled provider, in process.

    It speaks the language of the bundle that the run goes by, and lives by a clock of its own: the same requests get the same
    answers, on every machine.
    """
    clock = pkgutil.resolve_name(CLOCK)(count(START, STEP).__next__)
    return InProcess(pkgutil.resolve_name(ORACLE)(bundle=route.bundle, clock=clock), deadline=route.deadline)


def open_named(opener: str, route: Route) -> Shim:
    """Open ``route`` by the opener of that name."""
    shim: Shim = pkgutil.resolve_name(opener)(route)
    return shim


SCHEMES: Mapping[str, Scheme] = MappingProxyType(
    {
        "oracle": Scheme("oracle", open_oracle, fresh=True),
        "python": Scheme("python:package.module:factory", open_object),
        "stdio": Scheme("stdio:COMMAND", open_stdio, restarts=True),
        "http": Scheme("http://HOST:PORT/BASE", partial(open_named, HTTP)),
        "https": Scheme("https://HOST/BASE", partial(open_named, HTTPS)),
        "ws": Scheme("ws://HOST:PORT", partial(open_named, CONNECT)),
        "ws+tool": Scheme("ws+tool://HOST:PORT", partial(open_named, TUNNEL)),
    }
)
