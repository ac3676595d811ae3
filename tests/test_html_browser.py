"""The page in a real browser: Debian's chromium, headless. The machine of a test has it (``.ci/run`` installs it)."""

from __future__ import annotations

import base64
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from conformance.verdict import RunResult
from reports import html
from tests.result_samples import MIXED, big

WIDE, NARROW = (1280, 1600), (500, 1600)
AMPLE_SECONDS = 6.0
Opened = Callable[[RunResult], "Page"]


class Page:
    """An opened page."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.browser = browser

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def run(self, script: str) -> Any:
        return self.browser.execute_script(script)

    def cdp(self, name: str, **given: Any) -> Any:
        return self.browser.execute_cdp_cmd(name, given)

    def wait(self, holds: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + 10
        while not holds():
            assert time.monotonic() < until, what
            time.sleep(0.02)

    def shown(self) -> str:
        return self.one("#shown").text

    def visible_rows(self) -> int:
        return int(self.run("return [...document.querySelectorAll('tbody tr[id]')].filter(r => r.checkVisibility()).length"))

    def dark(self, *, dark: bool) -> None:
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.cdp("Emulation.setEmulatedMedia", features=features)

    def picture(self) -> bytes:
        return base64.b64decode(self.cdp("Page.captureScreenshot", format="png")["data"])

    def complaints(self) -> list[str]:
        return [str(entry) for entry in self.browser.get_log("browser")]  # type: ignore[no-untyped-call]


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.binary_location = _program("chromium")
    found = webdriver.Chrome(options=options, service=Service(_program("chromedriver")))
    found.set_page_load_timeout(60)
    yield found
    found.quit()


def _program(name: str) -> str:
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed: apt-get install chromium chromium-driver"
    return found


@pytest.fixture
def opened(browser: webdriver.Chrome, tmp_path: Path) -> Opened:
    def go(result: RunResult) -> Page:
        file = tmp_path / "report.html"
        file.write_text(html.render(result), "utf-8")
        browser.set_window_size(*WIDE)
        browser.get("about:blank")
        browser.get(file.as_uri())
        page = Page(browser)
        page.dark(dark=False)
        return page

    return go


def test_the_verdict_is_seen_at_a_glance_and_nothing_is_complained_of(opened: Opened) -> None:
    page = opened(MIXED)
    assert page.one("h1").text.startswith("‼ SUITE_ERROR the run itself broke")
    assert page.one("h1").location["y"] < 200
    assert len(page.all(".grid li")) == len(MIXED.rules)
    assert page.run("return performance.getEntriesByType('resource').length") == 0
    assert page.complaints() == []


def test_the_failure_is_drawn_with_its_offending_member_marked(opened: Opened) -> None:
    page = opened(MIXED)
    failure = page.one("#failure-MEM-R001\\.travels")
    assert "MEM-R001 Durable envelope. Every object has its envelope." in failure.text
    assert "call 2 is refused with NOT_FOUND or NOT_AUTHORIZED" in failure.text
    assert "memory-conformance replay MEM-R001.travels.mem.json" in failure.text
    steps = failure.find_elements(By.CSS_SELECTOR, ".step")
    assert ["offends" in str(step.get_attribute("class")) for step in steps] == [False, True]
    lanes = [step.find_element(By.CSS_SELECTOR, ".who").location["x"] for step in steps]
    assert lanes[0] < lanes[1]
    mark = steps[1].find_element(By.CSS_SELECTOR, "mark")
    assert mark.text == '[1, "</script>"]'
    assert mark.is_displayed()


def test_filters_narrow_and_go_into_the_address(opened: Opened) -> None:
    page = opened(MIXED)
    assert page.shown() == "11 of 11 checks shown"
    assert page.visible_rows() == 0
    page.one(".chip[data-verdict=FAIL]").click()
    page.wait(lambda: page.shown() == "4 of 11 checks shown", page.shown())
    assert page.visible_rows() == 4
    page.one("body").send_keys("/")
    assert page.run("return document.activeElement.id") == "q"
    page.one("#q").send_keys("travels")
    page.wait(lambda: page.shown() == "1 of 11 checks shown", page.shown())
    assert page.run("return location.hash") == "#q=travels&verdict=FAIL"
    page.browser.refresh()
    page.wait(lambda: page.shown() == "1 of 11 checks shown", page.shown())
    page.one("#q").send_keys(Keys.ESCAPE)
    page.wait(lambda: page.shown() == "11 of 11 checks shown", page.shown())


def test_a_link_leads_into_a_folded_rule(opened: Opened) -> None:
    page = opened(MIXED)
    row = page.one("#MEM-R001\\.travels")
    assert not row.is_displayed()
    page.one("#failure-MEM-R001\\.travels h3 a").click()
    page.wait(row.is_displayed, "the rule is not unfolded")
    assert page.one("#MEM-R001").get_attribute("open") is not None
    page.one(".grid a[href='#MEM-R003']").click()
    page.wait(page.one("#MEM-R003 p").is_displayed, "the rule is not unfolded")


def test_everything_can_be_reached_by_keys(opened: Opened) -> None:
    page = opened(MIXED)
    page.one("body").send_keys(Keys.TAB)
    assert page.run("return document.activeElement.className") == "skip"
    page.browser.switch_to.active_element.send_keys(Keys.ENTER)
    page.wait(lambda: page.run("return document.activeElement.id") == "rules", "the skip link does not skip")
    summary = page.one("#MEM-R002 > summary")
    summary.send_keys(Keys.ENTER)
    page.wait(page.one("#MEM-R002 table").is_displayed, "a rule does not unfold by Enter")


def test_a_screen_reader_is_told_what_is_there(opened: Opened) -> None:
    page = opened(MIXED)
    tree = page.cdp("Accessibility.getFullAXTree")["nodes"]
    roles = [str(node.get("role", {}).get("value")) for node in tree if not node.get("ignored")]
    for role in ("main", "banner", "search", "heading", "alert", "article", "table", "status", "region"):
        assert role in roles, role
    unnamed = [
        node
        for node in tree
        if not node.get("ignored")
        and node.get("role", {}).get("value") in ("button", "link", "searchbox")
        and not node.get("name", {}).get("value")
    ]
    assert unnamed == []


def test_text_can_be_read_in_light_and_dark(opened: Opened) -> None:
    """Every text has at least the contrast that WCAG asks for."""
    page = opened(MIXED)
    for dark in (False, True):
        page.dark(dark=dark)
        assert page.run(_CONTRASTS) == []


def test_nothing_overflows_a_narrow_window(opened: Opened) -> None:
    page = opened(MIXED)
    page.browser.set_window_size(*NARROW)
    page.one("#all").click()
    assert page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def test_on_paper_the_failures_are_unfolded(opened: Opened) -> None:
    page = opened(MIXED)
    printed = base64.b64decode(page.cdp("Page.printToPDF", printBackground=True)["data"])
    assert printed.startswith(b"%PDF")
    assert len(printed) > 10_000
    assert page.one("#MEM-R001").get_attribute("open") is not None


@pytest.mark.parametrize("dark", [False, True])
def test_pictures_of_a_good_and_a_bad_run_show_their_verdict(opened: Opened, dark: bool, tmp_path: Path) -> None:
    """The upper part of the picture is of the verdict's colour: green where all is well, red where it is not."""
    shares = {}
    for name, result in (("good", big(100, failing=0)), ("bad", big(100, failing=9))):
        page = opened(result)
        page.dark(dark=dark)
        picture = page.picture()
        (tmp_path / f"{name}.png").write_bytes(picture)
        assert picture.startswith(b"\x89PNG")
        shares[name] = page.browser.execute_async_script(_COLOURS, base64.b64encode(picture).decode())
    good, bad = shares["good"], shares["bad"]
    assert good["green"] > 20 * good["red"]
    assert bad["red"] > 500
    assert good["green"] > bad["green"]


def test_a_page_of_5000_checks_stays_fluent(opened: Opened) -> None:
    """It tells its seconds, best of three; a busy machine takes several times as long as the bar of one second."""
    page = opened(big(5000, failing=200))
    measured = []
    for _ in range(3):
        page.browser.refresh()
        assert page.run("return document.documentElement.dataset.ready") == "1"
        ready = page.run("return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        measured.append((ready / 1000, page.run(_FILTERED) / 1000))
    ready, filtered = map(min, zip(*measured, strict=True))
    print(f"5,000 checks: interactive {ready:.2f} s, filtered {filtered:.2f} s")  # noqa: T201
    assert ready < AMPLE_SECONDS
    assert filtered < AMPLE_SECONDS


def test_an_incomplete_run_says_so_first(opened: Opened) -> None:
    page = opened(replace(big(10, failing=0), complete=False, trouble=("the run did not reach its end: 10 of 99",)))
    assert "did not reach its end" in page.one("h1").text
    assert "Incomplete:" in page.one("[role=alert]").text


_FILTERED = """
const started = performance.now();
const chip = document.querySelector('.chip[data-verdict=PASS]');
chip.click();
document.body.getBoundingClientRect();
return performance.now() - started;
"""
_COLOURS = """
const [data, done] = arguments;
const image = new Image();
image.onload = () => {
  const canvas = document.createElement('canvas');
  canvas.width = image.width; canvas.height = Math.min(image.height, 700);
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
  const found = {red: 0, green: 0};
  for (let i = 0; i < pixels.length; i += 4) {
    const [r, g, b] = [pixels[i], pixels[i + 1], pixels[i + 2]];
    if (r > 150 && g < 150 && b < 150 && r - g > 80) found.red++;
    if (g > 100 && g - r > 60 && g - b > 40) found.green++;
  }
  done(found);
};
image.src = 'data:image/png;base64,' + data;
"""
_CONTRASTS = """
const canvas = document.createElement('canvas');
canvas.width = canvas.height = 1;
const context = canvas.getContext('2d', {willReadFrequently: true});
const mixed = (colors) => {
  context.clearRect(0, 0, 1, 1);
  for (const color of colors) { context.fillStyle = color; context.fillRect(0, 0, 1, 1); }
  return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const light = (rgb) => {
  const [r, g, b] = rgb.map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (node) => {
  const colors = [];
  for (let at = node; at; at = at.parentElement) colors.unshift(getComputedStyle(at).backgroundColor);
  return ['white', ...colors];
};
for (const fold of document.querySelectorAll('details')) fold.open = true;
const wrong = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !node.checkVisibility() || node.closest('script,.skip')) continue;
  const under = behind(node);
  const style = getComputedStyle(node);
  let opacity = 1;
  for (let at = node; at; at = at.parentElement) opacity *= getComputedStyle(at).opacity;
  const back = mixed(under);
  context.globalAlpha = 1;
  context.clearRect(0, 0, 1, 1);
  for (const color of under) { context.fillStyle = color; context.fillRect(0, 0, 1, 1); }
  context.globalAlpha = opacity;
  context.fillStyle = style.color; context.fillRect(0, 0, 1, 1);
  const fore = [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  context.globalAlpha = 1;
  const [hi, lo] = [light(fore), light(back)].sort((a, b) => b - a);
  const contrast = (hi + 0.05) / (lo + 0.05);
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  const said = `${contrast.toFixed(2)} ${walker.currentNode.data.trim().slice(0, 40)}`;
  if (contrast < (large ? 3 : 4.5)) wrong.push(said);
}
return [...new Set(wrong)];
"""
