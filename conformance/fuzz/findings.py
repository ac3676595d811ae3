"""What was found: merged by rule, operation and reason, with a counterexample that runs anywhere where one can be made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from conformance.counterexample import SUFFIX, Counterexample, Kind, Origin, Said
from conformance.counterexamples import About, Maker
from conformance.disagreement import Difference
from conformance.errors import BadInput, TargetFault, blame
from conformance.expect import CheckFailed
from conformance.listening import Listening
from conformance.machine import disagreement as walk
from conformance.machine.disagreement import Disagreement
from conformance.machine.walk import Leg, Played
from conformance.rehearsal import Stage
from conformance.release import version
from conformance.secrets import Secrets
from conformance.target import DEFAULT_TARGET, Opened, open_target
from conformance.verdict import Failure
from conformance.wire.bundle import Bundle

SECONDS = 12.0
TRIES = 600

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Finding:
    """A disagreement: ``rule`` (``MEM-R011``), ``op``, ``reason``, the sentence ``what``, what was ``expected`` and ``seen``.

    ``legs`` play the episode again, ``calls`` is how long it was; ``times`` how often it was found. ``unreduced`` says what went
    wrong when its counterexample was made, "" where nothing did.
    """

    rule: str
    op: str
    reason: str
    what: str
    expected: Any
    seen: Any
    pointer: str
    legs: tuple[Leg, ...]
    calls: int
    times: int = 1
    counterexample: Counterexample | None = None
    unreduced: str = ""

    @property
    def key(self) -> Key:
        """What tells it from another finding."""
        return (self.rule, self.op, self.reason)

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        example = None if self.counterexample is None else self.counterexample.to_json()
        plain = {
            name: getattr(self, name)
            for name in ("rule", "op", "reason", "what", "expected", "seen", "pointer", "calls", "times", "unreduced")
        }
        return {**plain, "legs": [leg.to_json() for leg in self.legs], "counterexample": example}

    @classmethod
    def of(cls, played: Played, disagreement: Disagreement, secrets: Secrets) -> Finding:
        """Make it from an episode that ended in a disagreement, without what is secret."""
        rule, op, reason = disagreement.key
        reason, what, pointer = map(secrets.text, (reason, disagreement.what, disagreement.pointer))
        expected, seen = map(secrets.value, (disagreement.expected, disagreement.seen))
        return cls(f"MEM-{rule}", op, reason, what, expected, seen, pointer, played.legs, played.share.calls)


class Findings:
    """All findings of a run; one of a known key adds to its number, and takes its place where it is shorter."""

    def __init__(self) -> None:
        self.found: dict[Key, Finding] = {}

    def add(self, finding: Finding) -> bool:
        """Merge a finding; say whether it is new."""
        known = self.found.get(finding.key)
        if known is None:
            self.found[finding.key] = finding
            return True
        better = min(known, finding, key=_length)
        why = better.unreduced if better.counterexample is not None else known.unreduced or finding.unreduced
        self.found[finding.key] = replace(better, times=known.times + finding.times, unreduced=why)
        return False

    def save(self, folder: Path) -> list[Path]:
        """Write each finding, and its counterexample where there is one, into a folder; return the counterexamples' paths.

        Raises ``BadInput`` where it cannot be written.
        """
        paths = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for finding in self.found.values():
                name = name_of(finding)
                (folder / f"{name}.json").write_text(_written(finding.to_json()), "utf-8")
                if finding.counterexample is not None:
                    paths.append(folder / f"{name}{SUFFIX}")
                    paths[-1].write_text(_written(finding.counterexample.to_json()), "utf-8")
        except OSError as error:
            raise BadInput(f"{folder}: a finding cannot be written: {error.strerror}.") from error
        return paths


def _written(value: Any) -> str:
    # A lone surrogate of an answer travels as its escape.
    return json.dumps(value, indent=1, ensure_ascii=True) + "\n"


def _length(finding: Finding) -> tuple[bool, int, int]:
    example = finding.counterexample
    return (example is None, 0 if example is None else len(example.calls), finding.calls)


def name_of(finding: Finding) -> str:
    """Name a finding's file by its key."""
    digest = hashlib.sha256("\0".join(finding.key).encode()).hexdigest()[:8]
    stem = finding.op.removeprefix("memory.").replace(".", "-")
    return f"{finding.rule.removeprefix('MEM-').lower()}-{stem}-{digest}"


NOT_SHOWN = "its calls, beside a right provider, do not show it again"
_OUTCOMES = frozenset({Kind.ACCEPTED, Kind.REFUSED, Kind.FORM, Kind.ONE_COMMITS, Kind.CHECK})
_INSIDE = frozenset(Kind) - _OUTCOMES
SHOWN_AS: Mapping[walk.Kind, frozenset[Kind]] = MappingProxyType(
    {
        walk.Kind.ACCEPTED: frozenset({Kind.REFUSED}),
        walk.Kind.REFUSED: frozenset({Kind.ACCEPTED}),
        walk.Kind.CODE: frozenset({Kind.REFUSED}),
        walk.Kind.DETAILS: frozenset({Kind.MEMBER}),
        walk.Kind.MEMBER: _INSIDE,
        walk.Kind.FORM: frozenset({Kind.FORM}),
        walk.Kind.SILENT: frozenset({Kind.FORM}),
        walk.Kind.STATE: frozenset(Kind),
    }
)
"""What a counterexample may expect where the walk disagreed in a kind: of a wrong state any later answer may tell."""


def same_as(finding: Finding) -> Callable[[Said, Difference], bool]:
    """Return what says whether a difference is the failure of a finding: its operation, its kind, its error codes.

    Else a finding would be reduced to whatever is shown by fewer calls.
    """
    kind = walk.Kind[finding.reason.partition(":")[0].upper()]
    seen = finding.seen.get("code") if isinstance(finding.seen, Mapping) and kind is not walk.Kind.ACCEPTED else ""
    expected = finding.expected if isinstance(finding.expected, list) else [finding.expected]
    codes = [code for code in expected if isinstance(code, str)] if kind in (walk.Kind.ACCEPTED, walk.Kind.CODE) else []

    def shows(said: Said, difference: Difference) -> bool:
        if difference.kind not in SHOWN_AS[kind] or (said.op != finding.op and kind not in _ANYWHERE):
            return False
        if kind not in _WITH_CODE:
            return True
        return difference.seen == seen and (not codes or difference.expected in codes)

    return shows


_ANYWHERE = (walk.Kind.STATE, walk.Kind.SILENT)
_WITH_CODE = (walk.Kind.ACCEPTED, walk.Kind.REFUSED, walk.Kind.CODE)


class Reducer:
    """Makes counterexamples of findings on the target, beside an oracle of its own, until all is ``stopped``."""

    def __init__(
        self, bundle: Bundle, opened: Opened, seed: int, *, seconds: float = SECONDS, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self._stopped = stopped
        self._bundle = bundle
        self._opened = opened
        self._seed = seed
        self._seconds = seconds

    def reduced(self, finding: Finding, listening: Listening, secrets: Secrets) -> Finding:
        """Give the finding with its counterexample; without one where its calls alone do not show it, or the target is gone.

        ``listening`` heard the episode. What it heard of credentials is hidden, and what the repetitions hear of more.
        """
        heard = Listening(self._opened.shim, digested=False)
        model = open_target(DEFAULT_TARGET, bundle=self._bundle).open()
        try:
            stages = Stage(replace(self._opened, shim=heard), self._bundle), Stage(model, self._bundle)
            maker = Maker(self._bundle, *stages, tries=TRIES, seconds=self._seconds, stopped=self._stopped)
            example = maker.of_history(listening.history, self._failure(finding), self._about(finding), same_as(finding))
        except (TargetFault, CheckFailed) as error:
            return replace(finding, unreduced=secrets.text(blame(error)))
        finally:
            model.shim.close()
        if example is None:
            return replace(finding, unreduced=NOT_SHOWN)
        told = secrets.with_more(listening.credentials | heard.credentials).value(example.to_json())
        return replace(finding, counterexample=replace(Counterexample.of_json(told), origin=Origin.FUZZ))

    def _failure(self, finding: Finding) -> Failure:
        # What is compared item by item is no list of error codes.
        codes = isinstance(finding.expected, list) and all(isinstance(code, str) for code in finding.expected)
        expected = finding.expected if codes or not isinstance(finding.expected, list) else None
        return Failure(finding.what, expected, finding.seen, finding.pointer)

    def _about(self, finding: Finding) -> About:
        return About(rule=finding.rule, what=finding.what, suite=version(), seed=self._seed)
