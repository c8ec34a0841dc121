"""docs/architecture.md and its picture say what import-linter checks, and what calls what."""

import re
import sys
from configparser import ConfigParser
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from pickbest.cli.start import main
from pickbest.learners import FPML
from pickbest.portfolio import Command, Portfolio
from pickbest.portfolio.engine import messages

ROOT = Path(__file__).parents[1]
SVG = "{http://www.w3.org/2000/svg}"


def checked_layers():
    """Rows of names, from the top, as .importlinter has them."""
    config = ConfigParser()
    config.read(ROOT / ".importlinter")
    lines = config["importlinter:contract:layers"]["layers"].split("\n")
    rows = [re.findall(r"[\w.]+", line) for line in lines if line.strip()]
    return [{name.removeprefix("pickbest.") for name in row} for row in rows]


def test_the_picture_shows_the_layers_that_are_checked():
    rows = {}
    for text in ElementTree.parse(ROOT / "docs/img/layers.svg").iter(f"{SVG}text"):
        if text.get("class") == "name":
            # Names of one row stand at one height, boxes being 56 apart.
            rows.setdefault((int(text.get("y")) - 20) // 56, set()).add(text.text)
    assert [rows[height] for height in sorted(rows)] == checked_layers()


def test_every_room_is_on_the_page():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(\w+)(?:/|\.py)`", page, re.MULTILINE))
    rooms = {path.parent.name for path in (ROOT / "src" / "pickbest").glob("*/__init__.py")}
    assert rooms | {"player", "studies"} == named


def callers():
    """The functions of ours that are at work, from the outermost to the one that calls this."""
    names, frame = [], sys._getframe(2)
    while frame:
        if (module := frame.f_globals.get("__name__", "")).startswith("pickbest."):
            names.append(f"{module}.{frame.f_code.co_qualname.partition('.<locals>')[0]}")
        frame = frame.f_back
    return names[::-1]


def listed(heading):
    """The functions of the numbered list that follows a heading of the page."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    part = page.partition(heading)[2].partition("\n\n**")[0]
    return re.findall(r"^\d\. `([\w.]+)`", part, re.MULTILINE)


def test_a_simulated_round_takes_the_calls_on_the_page(monkeypatch):
    own, taken = FPML.rule, []

    def pick_row(law, state, row, work, pick):
        taken.append(callers())
        own.pick_row(law, state, row, work, pick)

    rule = replace(own, pick_row=pick_row)
    # The loop as it is written: in machine code, nobody could look who called.
    vars(rule)["play_games"] = rule.play_games.plain
    monkeypatch.setattr(FPML, "rule", rule)
    words = ["simulate", "task-1", "-l", "fpml", "-b", "2", "-r", "1"]
    monkeypatch.setattr("sys.argv", ["pickbest", *words])
    with np.errstate(over="ignore"), pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    page = listed("**A simulated round.**")
    assert len(taken[0]) == len(page) <= 9
    assert all(real.endswith(name) for real, name in zip(taken[0], page, strict=True))


def test_a_live_round_takes_the_calls_on_the_page(monkeypatch):
    send, taken = messages.send, []

    def told(target, content):
        if "argv" in content:
            taken.append(callers())
        send(target, content)

    monkeypatch.setattr(messages, "send", told)
    with Portfolio({"one": Command("true")}, budget=1, deadline=60.0) as portfolio:
        portfolio.solve("a problem")
    # The last step is the call of `messages.send` itself.
    page = listed("**A live round.**")
    assert (len(page), page[-1]) == (len(taken[0]) + 1, "messages.send")
    assert len(page) <= 8
    assert all(real.endswith(name) for real, name in zip(taken[0], page[:-1], strict=True))
