"""The levers of the test bench: control calls, and what stands in for them where a provider has none (harness.md, controls).

A lever that a target lacks ends the check INCONCLUSIVE with the reason, never PASS.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.errors import TargetFault
from conformance.exchange import CONTROL_PREFIX, Call
from conformance.expect import CheckFailed, Inconclusive
from conformance.transport.shim import Shim

LONGEST_REAL_WAIT = 3.0


@dataclass(frozen=True, slots=True)
class Facts:
    """What ``control.hello`` (or the target file) says: ``flags`` as wire strings, ``controls`` without their prefix."""

    name: str
    version: str
    instance: str
    flags: frozenset[str]
    controls: frozenset[str]


@dataclass(frozen=True, slots=True)
class Login:
    """A principal and the credential that admission turns into it."""

    principal_id: str
    credential: str


@dataclass(frozen=True, slots=True)
class Home:
    """A space and its root principal, which holds one grant of everything. ``shared``: other checks use the space too."""

    space_id: str
    root: Login
    shared: bool = False


class Levers:
    """Control calls over a shim; ``token`` is the harness token where the transport wants one."""

    def __init__(self, shim: Shim, facts: Facts) -> None:
        self._shim = shim
        self.facts = facts

    def has(self, name: str) -> bool:
        """Say whether the target offers the control ``name`` (without prefix)."""
        return name in self.facts.controls

    def pull(self, name: str, **payload: Any) -> Mapping[str, Any]:
        """Send one control call. Raises ``Inconclusive`` where the target lacks it, ``TargetFault`` where it refuses."""
        if not self.has(name):
            raise Inconclusive(f"the target offers no {CONTROL_PREFIX}{name}")
        return control(self._shim, name, payload)

    def provision(self) -> Home:
        """Make a new empty space with its root principal."""
        answer = self.pull("provision")
        return Home(_text("provision", answer, "space_id"), _login("provision", answer.get("root")))

    def principal(self) -> Login:
        """Make a new principal without grants."""
        return _login("principal", self.pull("principal"))

    def advance(self, seconds: int) -> None:
        """Let ``seconds`` pass for the provider: by its clock control, else by a short real wait."""
        if self.has("clock"):
            self.pull("clock", advance_seconds=seconds)
        elif seconds <= LONGEST_REAL_WAIT:
            time.sleep(seconds)
        else:
            raise Inconclusive(f"the target offers no {CONTROL_PREFIX}clock and {seconds} s is too long to wait")

    def set_clock(self, now: str, *, frozen: bool = True) -> None:
        """Set the provider's clock to a Timestamp, by default standing still there."""
        self.pull("clock", set=now, frozen=frozen)

    def run_clock(self) -> None:
        """Let a clock that was set frozen run on."""
        self.pull("clock", frozen=False)

    def hold(self, hold: bool) -> None:
        """Keep the four operations that may be pending so, or settle them and let them commit again."""
        self.pull("hold", hold=hold)

    def restart(self) -> None:
        """Restart the provider without a goodbye and see that another instance answers.

        Raises ``Inconclusive`` where neither the shim nor a control can do it.
        """
        if not self._shim.restart():
            self.pull("restart", crash=True)
        self.expect_another()

    def expect_another(self) -> None:
        """See that another instance answers than the one known last. Raises ``CheckFailed``."""
        before, self.facts = self.facts, hello(self._shim)
        if self.facts.instance == before.instance:
            raise CheckFailed("the provider did not restart: control.hello names the same instance", seen=before.instance)


def control(shim: Shim, name: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Send one control call over ``shim`` and return its payload. Raises ``TargetFault`` where it is refused."""
    reply = shim.send(Call(CONTROL_PREFIX + name, dict(payload)))
    if reply.error is not None:
        raise TargetFault(f"{CONTROL_PREFIX}{name} was refused: {reply.code}: {reply.error.get('message', '')}")
    answer: Mapping[str, Any] = reply.payload
    return answer


def hello(shim: Shim) -> Facts:
    """Ask a provider who it is. Raises ``TargetFault`` where its hello is not as harness.md says."""
    answer = control(shim, "hello", {})
    provider = answer.get("provider")
    if not isinstance(provider, Mapping):
        raise TargetFault("control.hello: 'provider' is no object with 'name' and 'version'")
    if answer.get("harness") != 1:
        raise TargetFault(f"control.hello: 'harness' is {answer.get('harness')!r}; this suite speaks 1")
    return Facts(
        name=str(provider.get("name", "")),
        version=str(provider.get("version", "")),
        instance=_text("hello", answer, "instance"),
        flags=_names("hello", answer, "flags"),
        controls=frozenset(name.removeprefix(CONTROL_PREFIX) for name in _names("hello", answer, "controls")),
    )


def _login(name: str, answer: Any) -> Login:
    if not isinstance(answer, Mapping):
        raise TargetFault(f"control.{name}: no object with 'principal_id' and 'credential' in the answer")
    return Login(_text(name, answer, "principal_id"), _text(name, answer, "credential"))


def _text(name: str, answer: Mapping[str, Any], member: str) -> str:
    value = answer.get(member)
    if not isinstance(value, str) or not value:
        raise TargetFault(f"control.{name}: {member!r} is no non-empty string")
    return value


def _names(name: str, answer: Mapping[str, Any], member: str) -> frozenset[str]:
    value = answer.get(member)
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise TargetFault(f"control.{name}: {member!r} is no array of strings")
    return frozenset(value)
