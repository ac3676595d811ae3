"""A whole run as a function: pytest with our plugin, inside this process or over xdist's workers (architecture.md).

It can be called again and again in one process. A dead worker, an error of pytest, or a check without a result is a SUITE_ERROR
of the run, never a silent pass.
"""

from __future__ import annotations

import io
import os
import platform
import shlex
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from conformance import plugin, weights
from conformance.catalogue import PACKAGE, Rule, rules
from conformance.contract_coverage import contract_coverage
from conformance.errors import BadUsage, NotOffered
from conformance.ledger import ledger_digest
from conformance.levers import Facts
from conformance.merging import ELSEWHERE, NO_CHECK, Shard
from conformance.modules import directory, modules_of
from conformance.playback import Playback
from conformance.profiles import DEFAULT_PROFILE, DEFAULT_SEED
from conformance.recorder import Recorder
from conformance.recording import Header, assemble, facts_to_json
from conformance.release import DISTRIBUTION, version
from conformance.secrets import of_route, shown_target
from conformance.sources import engine, sources
from conformance.spreading import Spreading
from conformance.target import DEFAULT_TARGET, Target, open_target
from conformance.verdict import CheckResult, RuleResult, RunFacts, RunResult, Verdict
from conformance.watching import Together, Watcher
from conformance.wire.bundle import Bundle, load

NO_MODULE = "there is no module of this rule yet"
NOT_CHOSEN = "the rule was not chosen"
_INI = Path(__file__).with_name("checks.ini")
_QUIET = ("-q", "--no-header", "--no-summary", "--tb=short", "--show-capture=no", "--disable-warnings")
# The last two would collect garbage for seconds at the end, and warn about what a provider left behind.
_PLUGINS = ("-p", plugin.__name__, "-p", "no:cacheprovider", "-p", "no:unraisableexception", "-p", "no:threadexception")
_RESTARTS = ("--max-worker-restart", "3")
_ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


@dataclass(frozen=True, slots=True)
class Order:
    """What to run. ``workers`` 0 runs in this process; ``stop_early`` leaves out what follows a rule's first FAIL.

    ``counterexamples``: each failure is reduced to its shortest list of calls. ``record`` is a file for all requests and answers;
    ``playback`` one that is played in place of the target, whose text is told only. ``shard``: only a part of the checks is run.
    ``checks``: of the chosen rules, those of these ids alone. ``weights`` are seconds by node id, as far as they are known:
    workers begin with the longest checks. ``deal_by`` are those by which shards are dealt out, the same for all of a run's.
    """

    target: str = DEFAULT_TARGET
    profile: str = DEFAULT_PROFILE
    seed: int = DEFAULT_SEED
    workers: int = 0
    schemas: str | None = None
    stop_early: bool = False
    counterexamples: bool = True
    record: str | None = None
    playback: str | None = None
    shard: Shard | None = None
    checks: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    deal_by: Mapping[str, float] = field(default_factory=dict)


def run(order: Order, chosen: Collection[Rule] = (), watcher: Watcher | None = None) -> RunResult:
    """Run the checks of the ``chosen`` rules (none named: all) and return their results.

    Raises ``BadInput`` where the target, the bundle or an option cannot be used.
    """
    started = time.perf_counter()
    bundle = load(order.schemas)
    target = open_target(_opened(order), bundle=bundle)
    with target.started():
        return _judged(order, bundle, target, chosen, watcher or Together(), started)


def _opened(order: Order) -> str:
    """Return what is opened: nothing of the target's own where a recording is played."""
    return DEFAULT_TARGET if order.playback else order.target


def _judged(
    order: Order, bundle: Bundle, target: Target, chosen: Collection[Rule], watcher: Watcher, started: float
) -> RunResult:
    wanted = [rule for rule in rules().values() if rule in chosen or not chosen]
    facts = Playback(Path(order.playback)).hello if order.playback else _facts_of(target)
    begun = RunResult(_run_facts(order, bundle, facts), tuple(_rule_result(rule, wanted, ()) for rule in rules().values()))
    watcher.began(begun)
    if facts is None:
        return replace(begun, rules=_not_offered(order), seconds=time.perf_counter() - started)
    with TemporaryDirectory(prefix=DISTRIBUTION) as own:
        post, sections = (Path(own, name) for name in ("post", "sections"))
        post.mkdir()
        sections.mkdir()
        recorder = Recorder(watcher, post)
        modules = [path for rule in wanted for path in modules_of(rule)]
        if modules:
            recorded = ["--sections", str(sections)] if order.record else []
            arguments = [*_arguments(order), *_dealing(order, Path(own)), *recorded, "--post", str(post), *map(str, modules)]
            _run_pytest(arguments, recorder, order.weights)
        if order.record:
            _keep(Path(order.record), begun, facts, wanted, recorder, sections)
    results = tuple(_rule_result(rule, wanted, recorder.in_order(), order.shard) for rule in rules().values())
    result = replace(
        begun,
        rules=results,
        seconds=time.perf_counter() - started,
        trouble=tuple(map(of_route(target.route).text, recorder.trouble)),
        complete=recorder.reached_end,
    )
    return replace(result, coverage=contract_coverage(result, bundle).to_json())


def _keep(path: Path, begun: RunResult, hello: Facts, wanted: Collection[Rule], recorder: Recorder, sections: Path) -> None:
    """Put what was recorded into one file. Raises ``BadUsage`` where it cannot be written."""
    facts = begun.to_json()["facts"]
    header = Header(facts, facts_to_json(hello), tuple(rule.rule_id for rule in wanted), sources(), engine())
    try:
        assemble(path, header, sections, [(check.check_id, check.node_id) for check in recorder.in_order()])
    except OSError as error:
        raise BadUsage(f"{path}: the recording cannot be written: {error.strerror}.") from error


def _facts_of(target: Target) -> Facts | None:
    """Open the target once before the run, so that a mistake is told in one sentence. None: it has no memory family."""
    try:
        opened = target.open()
        target.release(opened)
    except NotOffered:
        return None
    finally:
        target.close()
    return opened.facts


def _run_pytest(arguments: Sequence[str], recorder: Recorder, weights: Mapping[str, float]) -> None:
    with own_ground(), io.StringIO() as said, redirect_stdout(said), redirect_stderr(said):
        code = pytest.main(list(arguments), plugins=[recorder, Spreading(weights)])
        if code not in _ENDED and not recorder.trouble:
            recorder.trouble[f"pytest ended with {code!r}: {' '.join(said.getvalue().split())[-300:]}"] = None
    recorder.complete()


def collecting_arguments() -> list[str]:
    """Return what pytest is called with to collect all checks and run none."""
    modules = [str(path) for rule in rules().values() for path in modules_of(rule)]
    return [*_ground(), "--collect-only", *modules]


def _ground() -> list[str]:
    return [*_QUIET, *_PLUGINS, "--started", "-c", str(_INI), "--rootdir", str(directory().parent)]


def _arguments(order: Order) -> list[str]:
    arguments = _ground()
    arguments += ["--target", _opened(order), "--profile", order.profile, "--seed", str(order.seed)]
    arguments += ["--schemas", order.schemas] if order.schemas is not None else []
    arguments += ["--stop-early"] if order.stop_early else []
    arguments += [] if order.counterexamples and not order.playback else ["--no-counterexamples"]
    arguments += ["--playback", order.playback] if order.playback else []
    arguments += [part for check in order.checks for part in ("--only", check)]
    return arguments + _workers(order.workers)


def _dealing(order: Order, place: Path) -> list[str]:
    """Return what a shard's pytest is called with; by which weights it is dealt out is written into a file at ``place``."""
    if order.shard is None:
        return []
    file = place / "weights"
    weights.write(file, order.deal_by)
    return ["--shard", str(order.shard), "--shard-weights", str(file)]


def _workers(number: int) -> list[str]:
    """Return xdist's options. ``-P`` keeps the current directory, whatever lies there, out of the workers' way."""
    if number == 0:
        return []
    python = f"{shlex.quote(sys.executable)} -P"
    return ["-p", "xdist.plugin", "--tx", f"{number}*popen//python={python}", "--dist", "load", *_RESTARTS]


@contextmanager
def own_ground() -> Iterator[None]:
    """Keep out what is not the run's: pytest plugins and options of the surroundings, and modules left by an earlier run.

    A module is imported anew because hypothesis keeps a test's settings and seed at its function.
    """
    for name in [name for name in sys.modules if name.startswith(f"{PACKAGE}.test_")]:
        del sys.modules[name]
    before = dict(os.environ)
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(weights.cache()))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _rule_result(rule: Rule, wanted: Collection[Rule], results: Sequence[CheckResult], shard: Shard | None = None) -> RuleResult:
    checks = tuple(result for result in results if result.rule_id == rule.rule_id)
    absent, absence = (ELSEWHERE, Verdict.DESELECTED) if shard is not None and rule in wanted else _absence(rule, wanted)
    return RuleResult(rule.rule_id, rule.title, rule.statement, checks, absent, absence)


def _absence(rule: Rule, wanted: Collection[Rule]) -> tuple[str, Verdict]:
    if rule not in wanted:
        return NOT_CHOSEN, Verdict.DESELECTED
    return (NO_CHECK if modules_of(rule) else NO_MODULE), Verdict.INCONCLUSIVE


def _not_offered(order: Order) -> tuple[RuleResult, ...]:
    reason = f"{order.target} offers no memory family"
    return tuple(
        RuleResult(rule.rule_id, rule.title, rule.statement, absent=reason, absence=Verdict.NOT_APPLICABLE)
        for rule in rules().values()
    )


def _run_facts(order: Order, bundle: Bundle, facts: Facts | None) -> RunFacts:
    return RunFacts(
        suite=version(),
        bundle=bundle.digest,
        target=shown_target(order.target),
        provider="" if facts is None else f"{facts.name} {facts.version}".strip(),
        instance="" if facts is None else facts.instance,
        flags=() if facts is None else tuple(sorted(facts.flags)),
        profile=order.profile,
        seed=order.seed,
        python=platform.python_version(),
        kill_matrix=ledger_digest(),
        shard="" if order.shard is None else str(order.shard),
        weights="" if order.shard is None else weights.digest_of(order.deal_by),
        started=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
