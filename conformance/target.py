"""A target: from what a person writes to an open way to a provider (harness.md, Target strings)."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from conformance.errors import BadTarget, NoAnswer, TargetFault
from conformance.levers import Facts, Home, Login, hello
from conformance.target_file import TargetFile, read_target_file
from conformance.transport.openers import SCHEMES
from conformance.transport.route import Route
from conformance.transport.shim import Shim
from conformance.transport.started import READY_SECONDS, running
from conformance.wire.bundle import Bundle

DEFAULT_TARGET = "oracle"
TOKEN_VARIABLE = "MEMORY_HARNESS_TOKEN"  # noqa: S105 - the name of a variable
RETRY_SECONDS = 0.2
_SUFFIX = ".toml"


@dataclass(frozen=True, slots=True)
class Opened:
    """A way to a provider with what it says of itself; ``homes`` and ``logins`` are those of the target file."""

    shim: Shim
    facts: Facts
    homes: Sequence[Home] = ()
    logins: Sequence[Login] = ()


class Target:
    """What a target string names. A provider of the kind ``fresh`` is opened anew each time, another one once.

    ``text`` is what a person wrote, ``route`` where it leads.
    """

    def __init__(self, text: str, scheme: str, route: Route, file: TargetFile) -> None:
        self.text = text
        self._scheme = SCHEMES[scheme]
        self.route = route
        self._file = file
        self._kept: Opened | None = None

    @property
    def deadline(self) -> float:
        """The seconds that a call may take."""
        return self.route.deadline

    @property
    def address(self) -> str | None:
        """The base address of a target over HTTP, None of another one."""
        return self._file.target if self._file.target.startswith(("http:", "https:")) else None

    @property
    def restarts(self) -> bool:
        """Say whether the provider can be restarted without a control of its own."""
        return self._scheme.restarts

    def started(self) -> AbstractContextManager[None]:
        """Run the server that the target file starts, where it names one, for as long as the context is open.

        It is started once for a run, however many processes open the target. Raises ``BadTarget`` where it does not get ready.
        """
        return running(self._file.server)

    def open(self) -> Opened:
        """Open the target, or return the way that is open already.

        Raises ``BadTarget`` where it cannot be used and ``NotOffered`` where it has no memory family.
        """
        if self._scheme.fresh:
            return self._opened()
        if self._kept is None:
            self._kept = self._opened()
        return self._kept

    def release(self, opened: Opened) -> None:
        """Give back what ``open`` returned; only a fresh provider is closed by it."""
        if self._scheme.fresh:
            opened.shim.close()

    def close(self) -> None:
        """Close what is still open."""
        if self._kept is not None:
            self._kept.shim.close()
            self._kept = None

    def _opened(self) -> Opened:
        shim = self._scheme.open(self.route)
        try:
            return Opened(shim, self._facts(shim), self._file.homes, self._file.logins)
        except BaseException:
            shim.close()
            raise

    def _facts(self, shim: Shim) -> Facts:
        try:
            return self._hello(shim)
        except TargetFault as fault:
            if self._file.flags is None:
                raise BadTarget(
                    f"target {self.text}: no control.hello tells its flags ({fault}); give a target file with 'flags'."
                ) from fault
            return Facts(self.text, "", "", self._file.flags, frozenset())

    def _hello(self, shim: Shim) -> Facts:
        """Ask who it is; a server that was started and names no ``ready`` pattern may take a while until it listens."""
        server = self._file.server
        until = time.monotonic() + (READY_SECONDS if server is not None and server.ready is None else 0)
        while True:
            try:
                return hello(shim)
            except NoAnswer:
                if time.monotonic() >= until:
                    raise
                time.sleep(RETRY_SECONDS)


def open_target(text: str, *, bundle: Bundle) -> Target:
    """Return the target that ``text`` names: a target string, or the path of a target file. Raises ``BadTarget``."""
    file = read_target_file(Path(text)) if text.endswith(_SUFFIX) else TargetFile(text)
    scheme, _, rest = file.target.partition(":")
    if scheme not in SCHEMES or (scheme == DEFAULT_TARGET and rest):
        forms = ", ".join(scheme.form for scheme in SCHEMES.values())
        raise BadTarget(f"there is no target kind {file.target!r}: write {forms} or the path of a {_SUFFIX} file.")
    principals = {login.credential: login.principal_id for login in file.everyone}
    route = Route(
        rest,
        bundle,
        file.deadline,
        file.flags,
        principals,
        env=file.env,
        cwd=file.cwd,
        headers=file.headers,
        token=file.token or os.environ.get(TOKEN_VARIABLE),
        ca=file.ca,
    )
    return Target(text, scheme, route, file)
