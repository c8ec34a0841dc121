"""The service's page in a browser: what its script draws, in light, in dark and on a phone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pickbest.portfolio import AskTell
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.store.records import Finished
from tests.portfolio.helpers import serve

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.browser
FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")
Until = Callable[[Callable[[], object]], object]


@pytest.fixture
def browser(served: tuple[str, Path], tmp_path: Path) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("needs chromium and chromedriver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1100,1400"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield made
    severe = [line for line in made.get_log("browser") if line["level"] == "SEVERE"]
    made.quit()
    assert [line for line in severe if "favicon" not in line["message"]] == []


@pytest.fixture
def until(browser: Any) -> Until:
    """Wait for something on the page, which draws itself again every two seconds."""
    from selenium.webdriver.support.ui import WebDriverWait

    return lambda check: WebDriverWait(browser, 60.0).until(lambda _: check())


def texts(browser: Any, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])]"
    script += ".map(each => each.innerText ?? each.textContent)"
    found: list[str] = browser.execute_script(script, selector)
    return found


def test_the_page_follows_its_portfolio(
    browser: Any, until: Until, served: tuple[str, Path]
) -> None:
    address, store = served
    browser.get(address)
    until(lambda: texts(browser, "#summary")[0].startswith("12 rounds finished, 0 lost"))
    assert texts(browser, "#arms tbody td:first-child") == ["a", "b", "c"]
    rounds = texts(browser, "#rounds tbody tr")
    assert len(rounds) == 12
    assert "problem <b>11</b>" in rounds[0], "text must be shown as text"
    lines = browser.find_elements("css selector", "#chart polyline")
    assert len(lines) == 1
    # Every round of this portfolio cost 0.1: the axis ends there.
    assert texts(browser, "#chart text")[:5] == ["0", "0.025", "0.05", "0.075", "0.1"]
    # A round that another process plays shows up by itself.
    with AskTell.reopened(store) as book:
        book.tell(book.ask("from elsewhere"), [0.0, 1.0])
    until(lambda: texts(browser, "#summary")[0].startswith("13 rounds finished"))
    until(lambda: "from elsewhere" in texts(browser, "#rounds tbody tr")[0])
    assert texts(browser, "#error") == [""]


def test_disputed_wrong_and_lost_results_are_shown(
    browser: Any, until: Until, served: tuple[str, Path]
) -> None:
    address, store = served
    with AskTell.reopened(store) as book:
        ticket = book.ask("disputed \u202e\x1b[31m")
        good, bad = ticket.arms
        runs = (
            Run(good, RunStatus.FINISHED, 0.1, 0.5, verdict="SAT", checked=True),
            Run(bad, RunStatus.WRONG, 1.0, 0.4, "wrong", verdict="UNSAT"),
        )
        book.ledger.tell([Finished(ticket.round, runs, *[(0.1, 1.0)] * 3, winner=good, cost=0.1)])
        book.ledger.lose([book.ask("lost").round], "its process died")
    browser.get(address)
    until(lambda: texts(browser, "#summary")[0].startswith("13 rounds finished, 1 lost"))
    states = dict(
        zip(
            texts(browser, "#arms td:first-child"),
            texts(browser, "#arms td:nth-child(2)"),
            strict=True,
        )
    )
    assert "1 wrong" in states[bad]
    newest, before = texts(browser, "#rounds tbody tr")[:2]
    assert "lost: its process died" in newest
    assert "! SAT" in before
    assert "\\u{202e}\\u{1b}[31m" in before, "control characters must be shown, not obeyed"


@pytest.mark.parametrize("width", [1100, 390])
def test_light_and_dark_can_be_read(
    browser: Any, until: Until, served: tuple[str, Path], width: int, tmp_path: Path
) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    browser.get(served[0])
    until(lambda: texts(browser, "#summary")[0].startswith("12 rounds finished"))
    seen = {}
    for scheme in ("light", "dark"):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        colours = browser.execute_script(
            "const style = getComputedStyle(document.body);"
            "return [style.color, style.backgroundColor]"
        )
        seen[scheme] = [_brightness(colour) for colour in colours]
        assert browser.save_screenshot(str(tmp_path / f"{scheme}.png"))
    assert seen["light"][0] + 120 < seen["light"][1], "dark letters on a light ground"
    assert seen["dark"][0] > seen["dark"][1] + 120, "light letters on a dark ground"
    overflow = "return document.documentElement.scrollWidth - innerWidth"
    assert browser.execute_script(overflow) <= 0, "the page is wider than the screen"


def test_names_are_shown_with_quality_and_prices_on_a_phone(
    browser: Any, until: Until, tmp_path: Path
) -> None:
    store, prices = tmp_path / "names.db", {"a-large-model-with-a-long-name": 0.02, "small": 0.001}
    with AskTell(list(prices), 2, store, rewards=True, prices=prices, cascade=True) as book:
        for number in range(20):
            book.tell(book.ask(f"request {number}: {'long ' * 20}"), [0.25])
    process, address = serve(store)
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 390, "height": 1000, "deviceScaleFactor": 1, "mobile": True},
    )
    try:
        browser.get(address)
        until(lambda: texts(browser, "#summary")[0].startswith("20 rounds finished"))
        (page,) = texts(browser, "body")
        assert "quality 0.2500" in page
        for word in ("0 tickets open", "Last result", "per second"):
            assert word in page
        heads = texts(browser, "#arms th")
        assert heads[2:6] == ["calls", "best", "price per call", "quality"]
        for word in ("PAR2", "cost", "seconds"):
            assert word not in page
        (title,) = texts(browser, "#charted")
        assert title == "Quality over a moving window, in order of finishing"
        overflow = "return document.documentElement.scrollWidth - innerWidth"
        assert browser.execute_script(overflow) <= 0, "the page is wider than the screen"
    finally:
        process.terminate()
        process.wait(timeout=30.0)


def _brightness(colour: str) -> float:
    """Of rgb(1, 2, 3) or rgba(…), between 0 and 255."""
    return sum(float(part) for part in colour.partition("(")[2].rstrip(")").split(",")[:3]) / 3.0
