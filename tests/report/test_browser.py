"""The report's page in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from studies.commands.paper import reproduce_parts
from tests.browser import DESKTOP, PHONE, chromium

pytestmark = pytest.mark.browser
PARTS = ["table-1", "task-3", "uniform", "top-set", "gamma"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    rewards = folder / "rewards.csv"
    rows = [f"{a / 10},{(a * 3 % 10) / 10},{(a * 7 % 10) / 10},0.5" for a in range(10)] * 4
    rewards.write_text("\n".join(["a,b,c,d", *rows]) + "\n")
    return reproduce_parts(PARTS, folder / "out", rewards, replicates=3).page


@pytest.fixture(scope="module", params=[DESKTOP, PHONE], ids=["desktop", "phone"])
def browser(
    request: pytest.FixtureRequest, page: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("profile"), request.param) as driver:
        driver.get(page.resolve().as_uri())
        yield driver


def test_every_image_loads_and_has_a_text(browser: Any) -> None:
    images = browser.execute_script(
        "return [...document.images].map(i => [i.complete && i.naturalWidth > 0, i.alt])"
    )
    assert len(images) >= 2
    assert all(loaded and len(alt) > 20 for loaded, alt in images)


def test_no_console_message_and_no_request(browser: Any) -> None:
    assert browser.get_log("browser") == []
    fetched = "return performance.getEntriesByType('resource').map(e => e.name)"
    assert [name for name in browser.execute_script(fetched) if name[:5] != "data:"] == []


def test_anchors_lead_somewhere(browser: Any) -> None:
    broken = browser.execute_script(
        "return [...document.querySelectorAll('a[href^=\"#\"]')]"
        ".filter(a => !document.getElementById(a.hash.slice(1))).map(a => a.hash)"
    )
    assert broken == []
    ids = browser.execute_script("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    link = next(
        a for a in browser.find_elements("css selector", ".summary a") if a.get_attribute("hash")
    )
    # The page scrolls smoothly; a click does not wait for it.
    into_view = "arguments[0].scrollIntoView({behavior: 'instant', block: 'center'})"
    browser.execute_script(into_view, link)
    link.click()
    assert browser.execute_script("return location.hash") == link.get_attribute("hash")


def test_nothing_is_wider_than_the_screen(browser: Any) -> None:
    """Wide tables scroll inside their own frame."""
    page_width, screen = browser.execute_script(
        "return [document.documentElement.scrollWidth, window.innerWidth]"
    )
    assert page_width <= screen


@pytest.mark.parametrize(
    ("scheme", "colours"),
    [
        ("dark", ["rgb(228, 232, 237)", "rgb(20, 24, 29)", True]),
        ("light", ["rgb(28, 36, 48)", "rgb(255, 255, 255)", False]),
    ],
)
def test_colours_by_day_and_by_night(browser: Any, scheme: str, colours: list[Any]) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    found = browser.execute_script(
        "const s = getComputedStyle(document.body), f = document.querySelector('figure img');"
        "return [s.color, s.backgroundColor, getComputedStyle(f).filter.startsWith('invert')]"
    )
    assert found == colours


def test_every_heading_cell_has_a_scope(browser: Any) -> None:
    without = "return [...document.querySelectorAll('th')].filter(h => h.textContent && !h.scope)"
    assert browser.execute_script(f"{without}.map(h => h.textContent)") == []
