"""docs/paper.md's table names functions, tests and parts of the report that exist."""

import re
import tomllib
from pathlib import Path

from pickbest import theory

ROOT = Path(__file__).parents[1]


FOLDERS = ("theory", "feasibility", "learners", "studies/paper")


def test_functions_tests_and_parts_exist_and_no_part_is_left_out():
    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    table = page.partition("| statement |")[2].partition("\n\n")[0].splitlines()[2:]
    recipes = tomllib.loads((ROOT / "studies/data/recipes.toml").read_text(encoding="utf-8"))
    files = [path for folder in FOLDERS for path in (ROOT / "tests" / folder).glob("*.py")]
    tested = "".join(path.read_text(encoding="utf-8") for path in files)
    named = set()
    for row in table:
        _, _, functions, tests, parts, _ = row.split("|")
        for function in re.findall(r"`(\w+)`", functions):
            assert callable(getattr(theory, function)), function
        assert "`" in tests, row
        for test in re.findall(r"`([\w.]+)`", tests):
            assert f"def {test}(" in tested or test in {path.name for path in files}, test
        named |= set(re.findall(r"`([\w-]+)`", parts))
    notes = {name for name, part in recipes["parts"].items() if part["chapter"] == "findings"}
    assert named == set(recipes["parts"]) - notes
    assert len(page.split()) <= 800
