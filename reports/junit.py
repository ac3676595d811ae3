"""The result as JUnit XML: one suite a rule, one case a check (reports/schema/junit.xsd).

FAIL is a failure, SUITE_ERROR an error, everything else that is not PASS is skipped with its verdict and reason, a waived failure
too. A rule without a check has one case of its own name, so that nothing is lost in counting.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from xml.etree import ElementTree as ET

from conformance.verdict import CheckResult, RuleResult, RunResult, Verdict
from reports.calls import calls
from reports.words import NAME, clean

_FACTS = ("suite", "bundle", "target", "provider", "profile", "seed", "shard", "started", "python")


def render(result: RunResult) -> str:
    """Return the XML text."""
    root = ET.Element("testsuites")
    for rule in result.rules:
        root.append(_suite(rule, result))
    if result.trouble or result.complaints:
        root.append(_trouble(result))
    _count(root, {"name": NAME, "time": _seconds(result.seconds)})
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(rule: RuleResult, result: RunResult) -> ET.Element:
    suite = ET.Element("testsuite")
    properties = ET.SubElement(suite, "properties")
    for name in _FACTS:
        ET.SubElement(properties, "property", name=name, value=clean(str(getattr(result.facts, name))))
    for check in rule.checks or (CheckResult(rule.rule_id, rule.rule_id, rule.verdict, rule.reason),):
        suite.append(_case(check))
    _count(suite, {"name": f"{rule.rule_id} {rule.title}", "time": _seconds(rule.seconds), "timestamp": result.facts.started})
    suite.set("skipped", str(len(list(suite.iter("skipped")))))
    return suite


def _case(check: CheckResult) -> ET.Element:
    case = ET.Element("testcase", classname=check.rule_id, name=clean(check.check_id), time=_seconds(check.seconds))
    ending = _waived if check.waiver is not None else _ENDINGS.get(check.verdict)
    if ending is not None:
        case.append(ending(check))
    return case


def _failure(check: CheckResult) -> ET.Element:
    element = ET.Element("failure", message=clean(check.reason), type=str(check.verdict))
    element.text = clean(_details(check))
    return element


def _error(check: CheckResult) -> ET.Element:
    element = ET.Element("error", message=clean(check.reason), type=str(check.verdict))
    element.text = clean(check.traceback or check.reason)
    return element


def _skipped(check: CheckResult) -> ET.Element:
    return ET.Element("skipped", message=clean(f"{check.verdict}: {check.reason}"))


def _waived(check: CheckResult) -> ET.Element:
    why = "" if check.waiver is None else f"waived until {check.waiver.expires}: {check.waiver.reason}"
    return ET.Element("skipped", message=clean(f"{check.verdict}: {check.reason} ({why})"))


_ENDINGS: Mapping[Verdict, Callable[[CheckResult], ET.Element]] = MappingProxyType(
    {
        Verdict.FAIL: _failure,
        Verdict.SUITE_ERROR: _error,
        Verdict.INCONCLUSIVE: _skipped,
        Verdict.NOT_APPLICABLE: _skipped,
        Verdict.DESELECTED: _skipped,
    }
)


def _details(check: CheckResult) -> str:
    lines = [check.sentence, check.reason]
    if check.failure is not None:
        lines += [f"{word}: {json.dumps(value)}" for word, value in check.failure.said()]
        lines += [f"at: {check.failure.pointer}"] if check.failure.pointer else []
    lines += [f"{call.caller}: {call.op} {json.dumps(call.payload)} -> {json.dumps(call.answer)}" for call in calls(check)]
    return "\n".join(lines)


def _trouble(result: RunResult) -> ET.Element:
    suite = ET.Element("testsuite")
    for number, sentence in enumerate((*result.trouble, *result.complaints), 1):
        check = CheckResult(f"run.trouble-{number}", "run", Verdict.SUITE_ERROR, sentence)
        suite.append(_case(check))
    _count(suite, {"name": "run", "time": _seconds(0)})
    suite.set("skipped", "0")
    return suite


def _count(element: ET.Element, members: Mapping[str, str]) -> None:
    for name, value in members.items():
        element.set(name, clean(value))
    element.set("tests", str(len(list(element.iter("testcase")))))
    for name, tag in (("failures", "failure"), ("errors", "error")):
        element.set(name, str(len(list(element.iter(tag)))))


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
