"""The result as JUnit XML: one suite a rule, one case a check.

FAIL is a failure, SUITE_ERROR an error, everything else that is not PASS is skipped with its verdict and reason. A rule without
a check has one case of its own name, so that nothing is lost in counting.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from xml.etree import ElementTree as ET

from conformance.verdict import CheckResult, RuleResult, RunResult, Verdict

NAME = "memory-conformance"
# XML 1.0 has no other characters than these.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(result: RunResult) -> str:
    """Return the XML text."""
    root = ET.Element("testsuites")
    for rule in result.rules:
        root.append(_suite(rule))
    if result.trouble:
        root.append(_trouble(result))
    _count(root, {"name": NAME, "time": _seconds(result.seconds)})
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(rule: RuleResult) -> ET.Element:
    suite = ET.Element("testsuite")
    for check in rule.checks or (CheckResult(rule.rule_id, rule.rule_id, rule.verdict, rule.reason),):
        suite.append(_case(check))
    _count(suite, {"name": f"{rule.rule_id} {rule.title}", "time": _seconds(rule.seconds)})
    return suite


def _case(check: CheckResult) -> ET.Element:
    case = ET.Element("testcase", classname=check.rule_id, name=_clean(check.check_id), time=_seconds(check.seconds))
    if (ending := _ENDINGS.get(check.verdict)) is not None:
        case.append(ending(check))
    return case


def _failure(check: CheckResult) -> ET.Element:
    element = ET.Element("failure", message=_clean(check.reason), type=str(check.verdict))
    element.text = _clean(_details(check))
    return element


def _error(check: CheckResult) -> ET.Element:
    element = ET.Element("error", message=_clean(check.reason), type=str(check.verdict))
    element.text = _clean(check.traceback or check.reason)
    return element


def _skipped(check: CheckResult) -> ET.Element:
    return ET.Element("skipped", message=_clean(f"{check.verdict}: {check.reason}"))


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
        lines += [f"expected: {json.dumps(check.failure.expected)}", f"seen: {json.dumps(check.failure.seen)}"]
        lines += [f"at: {check.failure.pointer}"] if check.failure.pointer else []
    lines += [f"{step.caller}: {step.op} {json.dumps(step.payload)} -> {json.dumps(step.answer)}" for step in check.trace]
    return "\n".join(lines)


def _trouble(result: RunResult) -> ET.Element:
    suite = ET.Element("testsuite")
    for number, sentence in enumerate(result.trouble, 1):
        check = CheckResult(f"run.trouble-{number}", "run", Verdict.SUITE_ERROR, sentence)
        suite.append(_case(check))
    _count(suite, {"name": "run", "time": _seconds(0)})
    return suite


def _count(element: ET.Element, members: Mapping[str, str]) -> None:
    for name, value in members.items():
        element.set(name, _clean(value))
    element.set("tests", str(len(list(element.iter("testcase")))))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(name, str(len(list(element.iter(tag)))))


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
