"""The pytest plugin that turns tests of rule modules into checks with a verdict (architecture.md, What a check is).

    pytest -p conformance.plugin path/to/invariants --target oracle --profile quick

A test of a module named ``test_mem_r0NN_…`` is a check. It gets a fixture ``bench``; what ended it becomes a verdict; its result
travels as JSON in the report's ``user_properties``, so that it survives xdist. Other tests are left alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import hypothesis
import pytest

from conformance.bench import Bench
from conformance.catalogue import name_of
from conformance.check import EDGE, MARKERS, check_of
from conformance.doing import Doing
from conformance.errors import BadInput, NoAnswer, TargetFault
from conformance.examples import looked_at
from conformance.expect import CheckFailed, NotApplicable
from conformance.finding import Finder
from conformance.garbage import collecting_rarely
from conformance.listening import Listening
from conformance.merging import shard_named
from conformance.playback import Playback
from conformance.profiles import DEFAULT_PROFILE, DEFAULT_SEED, PROFILES
from conformance.secrets import of_route
from conformance.session import Session, requirements
from conformance.target import DEFAULT_TARGET, open_target
from conformance.turns import Turns
from conformance.verdict import Verdict
from conformance.watchdog import Watchdog
from conformance.weights import dealt, read
from conformance.wire.bundle import load

PROPERTY = "memory-conformance"
_OUTCOMES: Mapping[Verdict, Literal["passed", "failed"]] = MappingProxyType(
    {Verdict.PASS: "passed", Verdict.FAIL: "failed", Verdict.SUITE_ERROR: "failed"}
)
_SESSION = pytest.StashKey[Session]()
_DOING = pytest.StashKey[Doing]()
_WATCHDOG = pytest.StashKey[Watchdog]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a run."""
    group = parser.getgroup("memory-conformance")
    group.addoption("--target", default=DEFAULT_TARGET, help="the provider under test (default: %(default)s)")
    group.addoption("--profile", default=DEFAULT_PROFILE, choices=list(PROFILES), help="how much is tried (default: %(default)s)")
    group.addoption("--seed", type=int, default=DEFAULT_SEED, help="what is random derives from it (default: %(default)s)")
    group.addoption("--schemas", default=None, metavar="DIR", help="another schema bundle than the packaged one")
    group.addoption("--post", default=None, help=argparse.SUPPRESS)
    group.addoption("--started", action="store_true", help=argparse.SUPPRESS)
    group.addoption("--sections", default=None, help=argparse.SUPPRESS)
    group.addoption("--playback", default=None, help=argparse.SUPPRESS)
    group.addoption("--shard", default=None, metavar="I/N", help="run part I of N of the checks")
    group.addoption("--shard-weights", default=None, metavar="FILE", help="with --shard: deal the checks out by these seconds")
    group.addoption("--only", action="append", default=[], metavar="ID", help="run the check of this id alone (repeatable)")
    group.addoption("--no-counterexamples", action="store_true", help="reduce no failure to its shortest list of calls")
    group.addoption("--stop-early", action="store_true", help="leave out what follows a rule's first FAIL, and shrink nothing")


def pytest_configure(config: pytest.Config) -> None:
    """Load the bundle and read the target; a person's mistake ends pytest with one sentence."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    option = config.option
    surroundings = ExitStack()
    config.add_cleanup(surroundings.close)
    surroundings.enter_context(collecting_rarely())
    try:
        bundle = load(option.schemas)
        target = open_target(option.target, bundle=bundle)
        if not (option.started or hasattr(config, "workerinput")):
            surroundings.enter_context(target.started())
    except BadInput as error:
        raise pytest.UsageError(str(error)) from error
    finder = None if option.no_counterexamples else Finder(bundle, seed=option.seed, profile=option.profile)
    shared = Session(target, bundle, PROFILES[option.profile], option.seed, option.stop_early, finder)
    shared.sections = None if option.sections is None else Path(option.sections)
    shared.playback = None if option.playback is None else Playback(Path(option.playback))
    config.stash[_SESSION] = shared


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Open the target once where checks will run, so that a wrong one ends pytest at once.

    Last, since hypothesis complains of what is imported before it is ready itself.
    """
    if _hands_out(session.config):
        return
    shared = session.config.stash[_SESSION]
    shared.settle()
    if (post := session.config.option.post) is not None and hasattr(session.config, "workerinput"):
        session.config.stash[_WATCHDOG] = Watchdog(Path(post), shared.target.deadline)
    if shared.playback is not None:
        return
    try:
        shared.target.release(shared.open())
    except NotApplicable:
        return
    except BadInput as error:
        raise pytest.UsageError(str(error)) from error


def _hands_out(config: pytest.Config) -> bool:
    """Say whether this process runs no check itself but hands them to xdist's workers."""
    return config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the target."""
    if (shared := config.stash.get(_SESSION, None)) is not None:
        shared.close()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Recognise the checks, and give each property its number of examples."""
    shared = config.stash[_SESSION]
    _without_edge(config, items, shared)
    _choose(config, items)
    _shorten(config, items, shared.profile.checks)
    _share(config, items)
    done: set[Any] = set()
    for item in items:
        if (check := check_of(item)) is None or not isinstance(item, pytest.Function):
            continue
        item.stash[_DOING] = Doing(check, item.nodeid, secrets=of_route(shared.target.route))
        if hypothesis.is_hypothesis_test(item.function) and item.function not in done:
            shared.settings(check)(item.function)
            done.add(item.function)


def _without_edge(config: pytest.Config, items: list[pytest.Item], shared: Session) -> None:
    """Leave out the checks of HTTP's edge where the target is not reached over HTTP."""
    if shared.edge is not None:
        return
    left = [item for item in items if item.get_closest_marker(EDGE) is not None]
    items[:] = [item for item in items if item.get_closest_marker(EDGE) is None]
    config.hook.pytest_deselected(items=left)


def _choose(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the checks that are asked for by their ids, where any is."""
    only = set(config.option.only)
    if not only:
        return
    kept = [item for item in items if (check := check_of(item)) is not None and check.check_id in only]
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def _shorten(config: pytest.Config, items: list[pytest.Item], most: int | None) -> None:
    """Keep the first ``most`` checks of each rule, each with its first parameter; None, or names that were given, keep all."""
    if most is None or config.option.only:
        return
    kept: dict[str, dict[str, pytest.Item]] = {}
    left: list[pytest.Item] = []
    for item in items:
        check = check_of(item)
        chosen = kept.setdefault("" if check is None else check.rule.rule_id, {})
        name = item.nodeid if check is None else name_of(check.check_id)
        if name in chosen or (check is not None and len(chosen) == most):
            left.append(item)
        else:
            chosen[name] = item
    items[:] = [item for chosen in kept.values() for item in chosen.values()]
    config.hook.pytest_deselected(items=left)


def _share(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep those of this shard."""
    if config.option.shard is None:
        return
    shard, file = shard_named(config.option.shard), config.option.shard_weights
    numbers = dealt([item.nodeid for item in items], {} if file is None else read(Path(file)), shard.of)
    kept = [item for item, number in zip(items, numbers, strict=True) if number == shard.number]
    left = [item for item, number in zip(items, numbers, strict=True) if number != shard.number]
    items[:] = kept
    config.hook.pytest_deselected(items=left)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave a check out that is not worth running any more; seed one that is (parametrised checks share their function)."""
    doing = item.stash.get(_DOING, None)
    if doing is None or not isinstance(item, pytest.Function):
        return
    shared = item.config.stash[_SESSION]
    shared.admit(doing.check)
    shared.settle()
    if hypothesis.is_hypothesis_test(item.function):
        hypothesis.seed(shared.seed_of(doing.check))(item.function)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Have the check watched while it runs, where it can be given up."""
    watchdog = item.config.stash.get(_WATCHDOG, None)
    if watchdog is None:
        return (yield)
    watchdog.watch(item.stash.get(_DOING, None))
    try:
        return (yield)
    finally:
        watchdog.watch(None)


@pytest.fixture
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """Give the check's place of work: one ``conformance.bench.Bench``, on a target that offers what the check needs."""
    doing = request.node.stash[_DOING]
    shared = request.config.stash[_SESSION]
    opened = shared.open(doing.check)
    try:
        with ExitStack() as turn, shared.way(doing, opened) as way:
            if opened.shim.shared:
                doing.waits = True
                turn.enter_context(Turns(shared.target.text).taken(doing.check.controls))
                doing.waits = False
            doing.listening = Listening(way, shared.settle)
            doing.bench = shared.bench(doing.check, opened, doing.listening)
            requirements(doing.check, doing.bench)
            yield doing.bench
            if request.session.exitstatus is pytest.ExitCode.INTERRUPTED and not opened.shim.shared:
                return  # nobody waits for a provider that is about to end as well
            doing.bench.close()
            shared.find(doing, opened)
    finally:
        shared.target.release(opened)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Run a failed check once more, to tell a flaky failure; hypothesis has done so itself with a failed example."""
    doing = pyfuncitem.stash.get(_DOING, None)
    if doing is None:
        return (yield)
    try:
        with looked_at(pyfuncitem.function) as doing.examples:
            return (yield)
    except (CheckFailed, TargetFault) as error:
        if not isinstance(error, NoAnswer) and not hypothesis.is_hypothesis_test(pyfuncitem.function):
            doing.rerun, doing.again = True, _run_again(pyfuncitem, doing)
        raise


def _run_again(item: pytest.Function, doing: Doing) -> BaseException | None:
    shared = item.config.stash[_SESSION]
    arguments = {name: item.funcargs[name] for name in signature(item.function).parameters}
    opened = shared.open(doing.check)
    try:
        if "bench" in arguments:
            arguments["bench"] = shared.bench(doing.check, opened, opened.shim)
        item.function(**arguments)
    except Exception as error:
        return error
    finally:
        shared.target.release(opened)
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn what ended each phase into the check's verdict, and the report into pytest's nearest outcome."""
    error = call.excinfo.value if call.excinfo else None
    report = yield
    doing = item.stash.get(_DOING, None)
    if doing is None:
        return report
    doing.seconds += call.duration
    doing.error = doing.error or error
    if error is not None or call.when == "call":
        _tell(item, report, doing)
    if call.when == "teardown":
        result = doing.result()
        item.config.stash[_SESSION].learn(result, doing.error)
        report.user_properties.append((PROPERTY, json.dumps(result.to_json())))
    return report


def _tell(item: pytest.Item, report: pytest.TestReport, doing: Doing) -> None:
    """Give pytest's report the outcome that is nearest to the verdict; a traceback stays where the check itself broke."""
    judged = doing.judgement()
    doing.traceback = doing.traceback or report.longreprtext
    report.outcome = _OUTCOMES.get(judged.verdict, "skipped")
    if report.outcome == "skipped":
        path, line, _ = item.location
        report.longrepr = (path, line or 0, f"{judged.verdict}: {judged.reason}")
    elif report.outcome == "failed" and (report.longrepr is None or isinstance(report.longrepr, tuple)):
        report.longrepr = f"{judged.verdict}: {judged.reason}"
