"""From a failure to a counterexample: find where the target and the oracle part, reduce, confirm, say what was expected.

The calls of the failed check's last world are repeated on the target and on the oracle. Where their answers differ, beyond what
the contract leaves open, the calls are reduced as long as the same difference shows; the oracle's answer at that place, in
symbols, is the expectation. It must be unmet on the target and met on the oracle, else there is no counterexample of this kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.counterexample import Counterexample, Expectation, Kind, Said, shown_by
from conformance.disagreement import Comparison, Difference
from conformance.errors import blame
from conformance.exchange import CONTROL_PREFIX
from conformance.expectations import judge
from conformance.fairness import fair, group_end, last_group
from conformance.histories import PROVISION, Event, History
from conformance.reduction import Budget, reduce
from conformance.rehearsal import Heard, Stage, Unready
from conformance.scripts import Script, Writer, travels
from conformance.symbols import START, Unbound, escaped, leaves, symbolic, symbols_in
from conformance.verdict import Failure
from conformance.wire.bundle import Bundle

TRIES = 400
SECONDS = 6.0
MOST_TOLD = 60
"""So many calls of a check come along that is to be run again itself."""
LISTING = "memory.spaces.list"
RUNS = 3
"""So often a reduced counterexample is repeated to confirm it."""


@dataclass(frozen=True, slots=True)
class About:
    """What a counterexample is about, besides its calls."""

    rule: str
    what: str
    check: str = ""
    sentence: str = ""
    suite: str = ""
    seed: int = 0
    profile: str = ""


Shows = Callable[[Said, Difference], bool]
"""Says whether a difference in the answer to a call is the failure that was found."""


def anything(_said: Said, _difference: Difference) -> bool:
    """Take any difference for the failure: a check's sentence does not say where answers part."""
    return True


class Maker:
    """Makes counterexamples on one target. ``model`` is the oracle on a stage of its own; ``stopped`` ends a reduction."""

    def __init__(
        self,
        bundle: Bundle,
        target: Stage,
        model: Stage,
        *,
        tries: int = TRIES,
        seconds: float = SECONDS,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._stopped = stopped
        self._bundle = bundle
        self._target = target
        self._model = model
        self._tries = tries
        self._seconds = seconds

    def of_history(self, history: History, failure: Failure, about: About, shows: Shows = anything) -> Counterexample | None:
        """Return the counterexample of a failed check, None where its calls alone do not show the failure."""
        for worlds in range(1, history.worlds + 1):
            events = history.last(worlds)
            script = Writer(self._bundle, events, self._started(events)).script
            if not travels(script, events, history):
                continue
            if (found := self.of_calls(_draft(script, about), failure, shows)) is not None:
                return found
        return None

    def of_check(self, history: History, failure: Failure, about: About) -> Counterexample:
        """Return the counterexample of a failed check that its calls alone do not show: the check itself is to be run again.

        The calls of its last world come along for people, where they are few.
        """
        events = history.last(1)
        draft = _draft(Writer(self._bundle, events, self._started(events)).script, about)
        told = draft if 0 < len(draft.calls) <= MOST_TOLD else replace(draft, calls=(), callers=(), spaces=(), materials={})
        return replace(told, expectation=Expectation(Kind.CHECK, max(0, len(told.calls) - 1)), seen=failure.seen)

    def alone(self, failure: Failure, about: About, error: BaseException) -> Counterexample:
        """Return the counterexample of a failed check without calls: the check itself is to be run again, ``error`` is told."""
        return replace(_draft(Script(), about), expectation=Expectation(Kind.CHECK), seen=failure.seen, unreduced=blame(error))

    def of_calls(self, draft: Counterexample, failure: Failure, shows: Shows = anything) -> Counterexample | None:
        """Return the counterexample in a list of calls, None where it shows no difference that can be judged."""
        wanted = _wanted(self._bundle, failure)
        differences = [found for found in self._differences(draft, wanted) if shows(draft.calls[found.call], found)]
        for difference in _ranked(differences, failure):
            cut = replace(draft, calls=draft.calls[: group_end(draft.calls, difference.call)])
            if self._shows(cut, difference, wanted) is None:
                continue
            if (found := self._finished(self._reduced(cut, difference, wanted), difference, wanted)) is not None:
                return found
        return None

    def _reduced(self, cut: Counterexample, difference: Difference, wanted: Sequence[str]) -> Counterexample:
        """Make the calls fewer; where something goes wrong meanwhile, keep the fewest so far and say what it was."""
        fewest = cut.calls

        def fails(calls: Sequence[Said]) -> bool:
            nonlocal fewest
            shown = self._shows(replace(cut, calls=tuple(calls)), difference, wanted) is not None
            fewest = tuple(calls) if shown else fewest
            return shown

        try:
            return replace(cut, calls=reduce(cut.calls, fails, self._budget(), _given(cut)))
        except Exception as error:
            # Whatever it is, what was found is not lost for it, and it is told.
            return replace(cut, calls=fewest, unreduced=blame(error))

    def _budget(self) -> Budget:
        return Budget(self._tries, self._seconds, self._stopped)

    def _started(self, events: Any) -> str:
        return started(self._target, events)

    # -- differences

    def _differences(self, example: Counterexample, wanted: Sequence[str]) -> list[Difference]:
        return list(self._compared(example, wanted)[0])

    def _compared(self, example: Counterexample, wanted: Sequence[str]) -> tuple[Sequence[Difference], Heard, Heard]:
        """Send the calls to both, as far as they can be sent; give the differences and both sides' answers."""
        try:
            model = self._model.perform(example, partly=True)
            target = self._target.perform(example, partly=True)
        except (Unready, Unbound):
            return (), Heard((), {}), Heard((), {})
        differences = list(Comparison(self._bundle, target, model, wanted).differences())
        return fair(example.calls, differences, target, model), target, model

    def _shows(self, example: Counterexample, difference: Difference, wanted: Sequence[str]) -> Difference | None:
        """Return the difference of the same shape at the last call."""
        return _alike(self._differences(example, wanted), difference, example, wanted)

    # -- the end

    def _finished(self, example: Counterexample, difference: Difference, wanted: Sequence[str]) -> Counterexample | None:
        """Say what is expected, see that it is so on the oracle and not on the target, and repeat it."""
        differences, target, model = self._compared(example, wanted)
        found = _alike(differences, difference, example, wanted)
        if found is None:
            return None
        try:
            told = _Telling(example, target, model).told(found, wanted)
            if told is None or not judge(told, self._model.perform(told)).met:
                return None
            results = [judge(told, self._target.perform(told)) for _ in range(RUNS)]
        except (Unready, Unbound):
            return None
        failed = sum(not result.met for result in results)
        facts = self._model.levers.facts
        if not failed:
            return None
        return replace(told, runs=RUNS, failed=failed, oracle=f"{facts.name} {facts.version}".strip())


def _alike(
    differences: Sequence[Difference], shown: Difference, example: Counterexample, wanted: Sequence[str]
) -> Difference | None:
    """Return the difference at the last calls that has the shape of ``shown``, and its reason."""
    last = last_group(example.calls)
    same = (found for found in differences if found.call in last and found.shape == shown.shape)
    return next((found for found in same if _of_one_reason(found, shown, wanted)), None)


def _of_one_reason(found: Difference, shown: Difference, wanted: Sequence[str]) -> bool:
    """Say whether both were to be refused for one reason: what the other calls no longer bring about is another one."""
    return found.kind is not Kind.REFUSED or found.expected == shown.expected or {found.expected, shown.expected} <= set(wanted)


def started(stage: Stage, events: Sequence[Event]) -> str:
    """Say when the first space of the events was made, as they tell, or else as the target tells now; "" where neither does."""
    heard = [pair for event in events for pair in zip(event.calls, event.replies, strict=True)]
    answers = [(call, reply.payload) for call, reply in heard if reply is not None and isinstance(reply.payload, Mapping)]
    home = next((payload for call, payload in answers if call.op == PROVISION), None)
    if home is None:
        return ""
    spaces = (space for call, payload in answers if call.op == LISTING for space in payload["spaces"])
    told = next((space["created_at"] for space in spaces if space["space_id"] == home["space_id"]), None)
    return str(told) if told is not None else stage.started(home["space_id"], home["root"]["credential"])


def _draft(script: Any, about: About) -> Counterexample:
    """Return the script as a counterexample that is not judged yet; the flags of most calls are those of all."""
    flags = max((said.flags for said in script.calls if said.flags is not None), key=len, default=())
    calls = tuple(replace(said, flags=None) if said.flags == flags else said for said in script.calls)
    controls = sorted({said.op.removeprefix(CONTROL_PREFIX) for said in calls if said.op.startswith(CONTROL_PREFIX)})
    return Counterexample(
        rule=about.rule,
        what=about.what,
        calls=calls,
        expectation=Expectation(Kind.CHECK),
        callers=tuple(script.callers),
        spaces=tuple(script.spaces),
        flags=flags,
        controls=tuple(controls),
        materials=script.materials,
        check=about.check,
        sentence=about.sentence,
        suite=about.suite,
        seed=about.seed,
        profile=about.profile,
    )


def _given(example: Counterexample) -> frozenset[str]:
    """Return the symbols that have a meaning before the first call."""
    principals = (party.principal for party in example.callers)
    return frozenset({START, *example.spaces, *principals, *example.materials})


def _wanted(bundle: Bundle, failure: Failure) -> list[str]:
    """Return the error codes that the check wanted, if it wanted one of some."""
    codes = {row.code for row in bundle.errors.values()}
    expected = failure.expected if isinstance(failure.expected, list) else [failure.expected]
    wanted = [code for code in expected if isinstance(code, str) and code in codes]
    return wanted if len(wanted) == len(expected) else []


def _ranked(differences: Sequence[Difference], failure: Failure) -> Iterator[Difference]:
    """Give the differences worth a try: that which the check speaks of first, then the last ones."""

    def fitness(difference: Difference) -> tuple[int, int]:
        speaks = difference.seen is not None and difference.seen in (failure.seen, _code(failure.seen))
        telling = (Kind.REFUSED, Kind.ACCEPTED, Kind.FORM, Kind.ONE_COMMITS)
        return (2 if speaks else 0) + (difference.kind in telling), difference.call

    shapes: dict[Any, Difference] = {}
    for difference in sorted(differences, key=fitness, reverse=True):
        shapes.setdefault((difference.shape, difference.call), difference)
    yield from list(shapes.values())[:MOST_DIFFERENCES]


MOST_DIFFERENCES = 4


def _code(seen: Any) -> Any:
    return seen.get("code") if isinstance(seen, Mapping) else None


class _Telling:
    """Says in symbols what the oracle answered where the target differs."""

    def __init__(self, example: Counterexample, target: Heard, model: Heard) -> None:
        self._example = example
        self._target = target
        self._model = model
        self._named = {value: symbol for symbol, value in model.bound.items() if isinstance(value, str) and symbol != START}
        self._seen = {value: symbol for symbol, value in target.bound.items() if isinstance(value, str) and symbol != START}
        self._names: dict[int, dict[str, str]] = {}

    def told(self, difference: Difference, wanted: Sequence[str]) -> Counterexample | None:
        """Return the example with its expectation and its answers; None where the expected value has no name before."""
        expectation = self._expectation(difference, wanted)
        if expectation is None:
            return None
        calls = tuple(self._said(number, said) for number, said in enumerate(self._example.calls))
        seen = symbolic(_shown(difference, self._target), self._seen)
        return _tidied(replace(self._example, calls=calls, expectation=expectation, seen=seen))

    def _said(self, number: int, said: Said) -> Said:
        mine, theirs = self._target.answers[number], self._model.answers[number]
        also = theirs.outcome if theirs.outcome != mine.outcome else None
        names = {**said.names, **self._names.get(number, {})}
        return replace(said, answer=symbolic(mine.body, self._seen), names=names, also=also)

    def _expectation(self, difference: Difference, wanted: Sequence[str]) -> Expectation | None:
        if difference.kind is Kind.ONE_COMMITS:
            return Expectation(Kind.ONE_COMMITS, difference.call, calls=tuple(last_group(self._example.calls)))
        if difference.kind is Kind.REFUSED:
            codes = tuple(wanted) if difference.expected in wanted else (difference.expected,)
            return Expectation(Kind.REFUSED, difference.call, codes)
        for text in (*_texts(difference.expected), *(part[1] for part in difference.pointer if isinstance(part, tuple))):
            self._name(text, difference.call)
        pointer = "".join(f"/{self._part(part)}" for part in difference.pointer)
        value = symbolic(difference.expected, self._named)
        return Expectation(
            difference.kind, difference.call, pointer=pointer, value=value, by=difference.by, other=difference.other
        )

    def _part(self, part: str | tuple[str, str]) -> str:
        return part if isinstance(part, str) else escaped(f"[{part[0]}={symbolic(part[1], self._named)}]")

    def _name(self, text: str, before: int) -> None:
        """Give a string of the oracle's a name, where an earlier answer holds it and no request does."""
        if text in self._named:
            return
        for number, answer in enumerate(self._model.answers[:before]):
            if any(leaf == text for _, leaf in leaves(answer.call.payload)):
                return
            for pointer, leaf in leaves(answer.body):
                if leaf == text:
                    symbol = self._named[text] = f"$seen{len(self._named)}"
                    self._names.setdefault(number, {})[symbol] = pointer
                    return


def _texts(value: Any) -> list[str]:
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, str)]


def _shown(difference: Difference, target: Heard) -> Any:
    if difference.kind is Kind.REFUSED or difference.seen is None:
        return target.answers[difference.call].body
    return difference.seen


def _tidied(example: Counterexample) -> Counterexample:
    """Leave out the callers, spaces, names and materials that nothing needs, and number the symbols anew."""
    used = set().union(*(symbols_in(said.payload) for said in example.calls), symbols_in(example.expectation.value))
    used |= set(_in_pointer(example.expectation.pointer))
    materials = {name: value for name, value in example.materials.items() if name in used}
    for value in example.materials.values():
        used |= symbols_in(value)
    first = next(iter(example.spaces), None)
    speaking = {said.caller for said in example.calls}
    shown = "".join(party.credential or "" for party in example.callers if party.name in speaking)
    callers = tuple(
        party
        for party in example.callers
        if party.name in speaking or party.principal in used or shown_by(party.name) in shown or party.space == first
    )
    spaces = tuple(space for space in example.spaces if space in used or any(party.space == space for party in callers))
    used -= _given(example)
    calls = tuple(
        replace(said, names={symbol: pointer for symbol, pointer in said.names.items() if symbol in used})
        for said in example.calls
    )
    return replace(example, calls=calls, callers=callers, spaces=spaces, materials=materials)


def _in_pointer(pointer: str) -> Iterator[str]:
    for part in pointer.split("/"):
        if part.startswith("[") and "=$" in part:
            yield part[1:-1].partition("=")[2]
