"""docs/paper.md's table names functions, tests and parts of the report that exist."""

import re
import tomllib
from pathlib import Path

from pickbest import theory

ROOT = Path(__file__).parents[1]


def test_functions_tests_and_parts_exist():
    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    table = page.partition("| statement |")[2].partition("\n\n")[0].splitlines()[2:]
    recipes = tomllib.loads((ROOT / "studies/data/recipes.toml").read_text(encoding="utf-8"))
    files = [*(ROOT / "tests/theory").glob("*.py"), *(ROOT / "tests/studies/paper").glob("*.py")]
    tested = "".join(path.read_text(encoding="utf-8") for path in files)
    assert len(table) >= 15
    for row in table:
        _, _, functions, tests, parts, _ = row.split("|")
        for function in re.findall(r"`(\w+)`", functions):
            assert callable(getattr(theory, function)), function
        for test in re.findall(r"`([\w.]+)`", tests):
            assert f"def {test}(" in tested or test in {path.name for path in files}, test
        for part in re.findall(r"`([\w-]+)`", parts):
            assert part in recipes["parts"], part
