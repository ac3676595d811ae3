"""A target looked at before it is certified: what it says, what it answers and how fast, what will stay open and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from conformance import scenes
from conformance.bench import Bench
from conformance.errors import TargetFault
from conformance.expect import CheckFailed, Inconclusive
from conformance.levers import Facts
from conformance.target import Opened
from conformance.wire.bundle import Bundle, Operation

BASIC = ("describe", "spaces.list", "subjects.ensure", "grants.list", "capture", "records.create", "records.get", "recall")


class Trip(NamedTuple):
    """One operation tried: its error code ("" for success), or what went wrong with the answer; and the time of the call."""

    op: str
    code: str
    fault: str
    seconds: float


class Lack(NamedTuple):
    """What a target does not offer, what that leaves open, and what to do about it."""

    what: str
    effect: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Findings:
    """All that was found; ``limits`` is None where ``memory.describe`` was not answered."""

    facts: Facts
    principals: int
    spaces: int
    limits: Mapping[str, Any] | None = None
    trips: Sequence[Trip] = field(default_factory=tuple)
    lacks: Sequence[Lack] = field(default_factory=tuple)

    @property
    def well(self) -> bool:
        """True where each operation that was tried succeeded."""
        return bool(self.trips) and not any(trip.code or trip.fault for trip in self.trips)


def examine(opened: Opened, bundle: Bundle, *, restarts: bool = False) -> Findings:
    """Look at an open target; nothing is raised for a fault of the provider. ``restarts``: the suite itself can restart it."""
    bench = Bench(opened.shim, bundle, opened.facts, check_id="doctor", homes=opened.homes, logins=opened.logins)
    trips = list(_trips(bench))
    return Findings(
        opened.facts, len(opened.logins), len(opened.homes), _limits(bench), trips, list(_lacks(opened, bundle, restarts))
    )


def _trips(bench: Bench) -> Iterator[Trip]:
    for operation in bench.bundle.operations.values():
        if operation.stem in BASIC:
            yield _trip(bench, operation)


def _trip(bench: Bench, operation: Operation) -> Trip:
    try:
        world = bench.world()
        call = world.root.call(operation.stem, **scenes.plain_request(world, operation.stem))
        reply = world.exchange(call)
    except CheckFailed as error:
        return Trip(operation.name, "", f"{error.what}{_code(error.seen)}", 0.0)
    except (TargetFault, Inconclusive) as error:
        return Trip(operation.name, "", str(error), 0.0)
    return Trip(operation.name, reply.code or "", "", world.trace.exchanges[-1].seconds)


def _code(seen: Any) -> str:
    """Give the error code of what was seen, where that is an error."""
    return f": {seen['code']}" if isinstance(seen, Mapping) and "code" in seen else ""


def _limits(bench: Bench) -> Mapping[str, Any] | None:
    try:
        limits: Mapping[str, Any] = bench.described(bench.world())["limits"]
    except (TargetFault, CheckFailed, Inconclusive):
        return None
    return limits


def _lacks(opened: Opened, bundle: Bundle, restarts: bool) -> Iterator[Lack]:
    has = opened.facts.controls | ({RESTART} if restarts else set())
    for name, (effect, remedy) in _CONTROLS.items():
        if name not in has and not (name in _IN_FILE and (opened.logins if name == "principal" else opened.homes)):
            yield Lack(f"control.{name}", effect, remedy)
    for flag in bundle.flags:
        if bundle.flag(flag) not in opened.facts.flags:
            yield Lack(
                bundle.flag(flag), "its rules are NOT_APPLICABLE; that it is refused is checked", "declare it once it is served"
            )


RESTART = "restart"
_IN_FILE = ("provision", "principal")
# control -> what its absence leaves open, and what to do
_CONTROLS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "provision": (
            "nearly everything is INCONCLUSIVE: there is no space to work in",
            "offer it, or name spaces in target.toml",
        ),
        "principal": ("checks with a second caller are INCONCLUSIVE", "offer it, or name principals in target.toml"),
        "clock": ("expiry is tested by short real waits, and is INCONCLUSIVE where these are too short", "offer it"),
        "hold": ("checks of pending receipts and of the drain barrier are INCONCLUSIVE", "offer it"),
        RESTART: ("durability is INCONCLUSIVE", "offer it"),
    }
)
