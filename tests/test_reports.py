"""Reports are pure functions of the result, say nothing that could be taken for markup, and agree with each other."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import xmlschema

from conformance.verdict import CheckResult, RuleResult, RunResult, Verdict
from reports import badge, html, json_file, junit, markdown
from reports.calls import calls
from reports.counts import counts
from reports.marked import marked
from reports.shell import curl_lines, json_lines
from reports.writers import FORMATS, report_named
from tests.result_samples import FAILED, GOOD, MIXED, TRAVELS, WAIVED_ALONE, big, check, printed

SCHEMA = xmlschema.XMLSchema11(Path(__file__).parent.parent / "reports" / "schema" / "junit.xsd")


class Page(HTMLParser):
    """The page as far as it is looked at: the counts, the rows of checks, the ids, what it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}
        self.rows: list[str] = []
        self.ids: list[str] = []
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.scripts = 0
        self._count = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [str(given["id"])] if "id" in given else []
        self.scripts += tag == "script"
        if tag == "tr" and "id" in given:
            self.rows.append(str(given["class"]).removeprefix("c-"))
        self.loaded += [str(given[name]) for name in ("src", "srcset", "data") if name in given]
        self.links += [str(given["href"])] if "href" in given else []
        self._count = str(given.get("data-count") or "")

    def handle_data(self, data: str) -> None:
        if self._count:
            self.counts[self._count] = int(data)
            self._count = ""


# -- all formats together


@pytest.mark.parametrize("result", [MIXED, GOOD, WAIVED_ALONE, big(60, failing=9)], ids=["mixed", "good", "waived", "big"])
def test_all_formats_tell_the_same_counts(result: RunResult) -> None:
    found = counts(result)
    verdicts = Counter(check.verdict for check in result.checks)
    assert found.checks == verdicts

    told = json.loads(json_file.render(result))["counts"]
    assert told["checks"] == {str(verdict): number for verdict, number in verdicts.items()}
    assert (told["waived"], told["calls"]) == (found.waived, sum(check.calls for check in result.checks))

    page = Page(html.render(result))
    assert page.counts["total"] == len(result.checks) == len(page.rows)
    assert Counter(page.rows) == Counter(map(str, verdicts.elements()))
    assert {name: page.counts[str(name)] for name in verdicts} == verdicts
    assert page.counts.get("waived", 0) == found.waived

    root = ET.fromstring(junit.render(result))
    unwaived = Counter(check.verdict for check in result.checks if check.waiver is None)
    assert int(root.get("failures", "")) == unwaived[Verdict.FAIL]
    assert int(root.get("errors", "")) == unwaived[Verdict.SUITE_ERROR] + len(result.trouble) + len(result.complaints)

    text = markdown.render(result)
    assert f"**{len(result.checks)} checks**: " + ", ".join(f"{number} {name}" for name, number in found.checks.items()) in text
    assert f"{verdicts[Verdict.PASS]} of {len(result.checks)} checks passed" in printed(result, width=200)
    assert f"{verdicts[Verdict.PASS]}/{len(result.checks)}" in badge.render(result)


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_can_be_written_and_is_a_function_of_the_result(name: str, tmp_path: Path) -> None:
    file = tmp_path / "report"
    report_named(f"{name}:{file}").write(MIXED)
    assert file.read_text("utf-8") == FORMATS[name](MIXED) == FORMATS[name](MIXED)
    assert sorted(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", ["html", "markdown", "badge", "junit"])
def test_an_incomplete_run_is_told_as_such(name: str) -> None:
    text = FORMATS[name](replace(GOOD, complete=False, trouble=("the run did not reach its end",)))
    assert "did not reach its end" in text or "incomplete" in text


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "r.json"
    report = report_named(f"json:{file}")
    report.write(MIXED)
    whole = file.read_text("utf-8")
    assert json.loads(whole)["format"] == 1

    def full(*_arguments: Any) -> int:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="no space"):
        report.write(MIXED)
    monkeypatch.undo()
    assert file.read_text("utf-8") == whole


@pytest.mark.parametrize("text", ["json", "json:", "papyrus:x", ":x"])
def test_a_report_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="FORMAT:FILE"):
        report_named(text)


# -- JSON, JUnit


def test_json_is_the_whole_result() -> None:
    text = json_file.render(MIXED)
    text.encode("ascii")
    value = json.loads(text)
    assert RunResult.of_json(value) == MIXED
    assert (value["verdict"], value["exit_code"]) == ("SUITE_ERROR", 3)


@pytest.mark.parametrize("result", [MIXED, GOOD, WAIVED_ALONE, big(60, failing=9)], ids=["mixed", "good", "waived", "big"])
def test_junit_is_of_the_usual_schema(result: RunResult) -> None:
    SCHEMA.validate(junit.render(result))


def test_the_schema_of_junit_refuses_what_is_none() -> None:
    text = junit.render(MIXED)
    assert not SCHEMA.is_valid(text.replace('tests="', 'test="'))
    assert not SCHEMA.is_valid(text.replace('time="0.', 'time="x.'))
    assert not SCHEMA.is_valid(text.replace("skipped message", "skipped why"))
    assert not SCHEMA.is_valid(text.replace("failure>", "mistake>").replace("<failure", "<mistake"))


def test_junit_has_a_suite_a_rule_and_a_case_a_check() -> None:
    root = ET.fromstring(junit.render(MIXED))
    cases = list(root.iter("testcase"))
    without_check = [rule for rule in MIXED.rules if not rule.checks]
    assert len(cases) == len(MIXED.checks) + len(without_check) + 2 == int(root.get("tests", ""))
    assert [suite.get("name") for suite in root] == [f"{rule.rule_id} {rule.title}" for rule in MIXED.rules] + ["run"]
    waived = next(case for case in cases if case.get("name") == "MEM-R005.waived")
    assert [part.tag for part in waived] == ["skipped"]
    failure = next(root.iter("failure"))
    assert failure.get("message") == "it is <broken> & [bold]bad[/bold]"
    assert "ada: memory.records.get" in (failure.text or "")


# -- Markdown, badge


def test_markdown_shows_a_provider_s_words_as_they_are() -> None:
    said = "**bold** | <img src=x> `code` [a](javascript:x) @all\n# head"
    bad = replace(FAILED, reason=said, failure=replace(FAILED.failure, seen=said) if FAILED.failure else None)
    text = markdown.render(replace(GOOD, rules=(replace(GOOD.rules[0], checks=(bad,)),)))
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    for markup in ("**bold**", "<img", "[a](", "@all", "\n# head"):
        assert markup not in outside


@pytest.mark.parametrize("code", ["0301", "200b", "00a0", "202e", "d83d", "0085", "feff", "fffe"])
def test_what_differs_looks_different_in_every_format(code: str) -> None:
    assert FAILED.failure is not None
    bad = replace(
        FAILED, failure=replace(FAILED.failure, expected="\u00e9 \u0928\u093f \U0001f600", seen=f"e{chr(int(code, 16))}")
    )
    result = replace(GOOD, rules=(replace(GOOD.rules[0], checks=(bad,)),))
    for text in (printed(result, width=200), markdown.render(result), unescape(html.render(result))):
        assert f"e\\u{code}" in text
        assert "\u00e9 \u0928\u093f \U0001f600" in text


def test_markdown_stays_below_what_a_summary_may_have() -> None:
    text = markdown.render(big(3000, failing=2500))
    assert len(text.encode()) < 1024 * 1024
    assert "more checks that did not pass" in text


def test_markdown_marks_the_answer_that_offends() -> None:
    text = markdown.render(MIXED)
    assert text.count("**← here**") == 2
    assert "memory-conformance replay MEM-R001.travels.mem.json --target python:a.b:c" in text


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (GOOD, "memory contract: conforms 1/1"),
        (WAIVED_ALONE, "memory contract: waived 1/2"),
        (MIXED, "memory contract: suite error 3/"),
        (replace(GOOD, complete=False), "memory contract: incomplete 1/1"),
    ],
)
def test_the_badge_says_what_it_shows(result: RunResult, said: str) -> None:
    root = ET.fromstring(badge.render(result))
    assert root.get("aria-label", "").startswith(said)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert ": ".join(map(str, texts)) == root.get("aria-label")


# -- the page


def test_the_page_loads_nothing_and_holds_no_foreign_markup() -> None:
    text = html.render(MIXED)
    page = Page(text)
    assert page.loaded == []
    assert page.scripts == 1
    assert len(page.ids) == len(set(page.ids))
    assert [link for link in page.links if not link.startswith(("#", "data:application/json;base64,"))] == [
        "https://shop.invalid/17"
    ]
    assert '[1, "</script>"]' not in text
    assert "\ud800" not in text
    assert "<broken>" not in text
    text.encode("utf-8")


def test_a_waiver_s_link_leads_nowhere_but_into_the_web() -> None:
    waiver = replace(next(check.waiver for check in WAIVED_ALONE.checks if check.waiver), link="javascript:alert(1)")
    rules = tuple(
        replace(rule, checks=tuple(replace(check, waiver=waiver if check.waiver else None) for check in rule.checks))
        for rule in WAIVED_ALONE.rules
    )
    assert not any("javascript" in link for link in Page(html.render(replace(WAIVED_ALONE, rules=rules))).links)


def test_the_page_shows_the_calls_as_shell_lines() -> None:
    assert TRAVELS.counterexample is not None
    text = unescape(html.render(MIXED))
    for lines in (curl_lines(TRAVELS.counterexample), json_lines(TRAVELS.counterexample)):
        assert all(line in text for line in lines)
    assert text.count('<details class="shell">') == 2
    long = replace(TRAVELS.counterexample, what="x" * html.LONGEST_SHELL)
    assert '<details class="shell">' not in html.render(replace(GOOD, rules=(_rule_of(replace(TRAVELS, counterexample=long)),)))


def _rule_of(check: CheckResult) -> RuleResult:
    return RuleResult("MEM-R001", "Durable envelope", "It is.", (check,))


def test_what_stopped_the_reduction_is_told() -> None:
    assert TRAVELS.counterexample is not None
    whole = replace(TRAVELS, counterexample=replace(TRAVELS.counterexample, unreduced="KeyError: 'x<y'"))
    result = replace(GOOD, rules=(_rule_of(whole),))
    for text in (unescape(html.render(result)), unescape(markdown.render(result)), printed(result)):
        assert "KeyError: 'x<y'" in text


def test_the_page_of_5000_checks_stays_below_3_mb() -> None:
    for failing in (200, 5000):
        text = html.render(big(5000, failing=failing))
        assert len(text.encode()) < 3_000_000
        assert len(Page(text).rows) == 5000


def test_a_page_with_huge_answers_stays_small() -> None:
    step = replace(FAILED.trace[0], answer={"records": [{"text": "x" * 5000}] * 500})
    failing = [replace(FAILED, check_id=f"MEM-R001.c{number}", trace=(step,) * 20) for number in range(40)]
    assert len(html.render(replace(GOOD, rules=(replace(GOOD.rules[0], checks=tuple(failing)),)))) < 3_000_000


def test_the_offending_member_is_marked() -> None:
    text = str(marked({"a": [{"b": 1}, {"b": "<2>"}], "c": 3}, "/a/1/b", mark=True))
    assert "<mark>&#34;&lt;2&gt;&#34;</mark>" in text
    assert text.count("<mark>") == 1
    assert str(marked({"a": 1}, "/b/c", mark=True)) == '<mark class="whole">{&#34;a&#34;: 1}</mark>'
    assert "<mark>" not in marked({"a": 1})
    assert str(marked({"a/b~": [1]}, "/a~1b~0/0", mark=True)).count("<mark>1</mark>") == 1


def test_what_was_seen_is_found_in_the_last_answer() -> None:
    trace = calls(FAILED)
    assert [call.offends for call in trace] == [False] * 8 + [True]
    reduced = calls(TRAVELS)
    assert [(call.offends, call.pointer) for call in reduced] == [(False, ""), (True, "/record/a")]
    assert calls(check(Verdict.PASS)) == []
