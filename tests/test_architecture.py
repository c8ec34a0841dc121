"""The picture of the layers and the page about them say what import-linter checks."""

import re
from configparser import ConfigParser
from pathlib import Path
from xml.etree import ElementTree

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
