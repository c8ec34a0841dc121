"""docs/paper.md's table names what exists, and the README's two tables say what is computed."""

import re
import tomllib
from pathlib import Path

from pickbest import theory
from studies.paper.printed import BEST, EXP3, FPML, OG, TABLE_2

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


def rows_below(heading):
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = page.partition(heading)[2].partition("|---|")[2].partition("\n\n")[0].splitlines()[1:]
    return {int(row.split("|")[1]): [cell.strip() for cell in row.split("|")[2:-1]] for row in rows}


def test_the_readme_shows_the_bounds_that_the_functions_give():
    found = rows_below("**More picks, less regret.**")
    assert list(found) == [1, 2, 4, 6]
    for budget, (short, long, hedge) in found.items():
        for cell, rounds in ((short, 10_000), (long, 1_000_000)):
            bound = theory.fpml_regret_bound(n_arms=100, budget=budget, rounds=rounds)
            assert cell == f"{bound:,.0f}"
        if budget > 1:
            assert hedge == f"{theory.hedge_bound(n_arms=100, budget=budget):.1f}"


def test_the_readme_shows_the_printed_rewards():
    found = rows_below("**The printed rewards, met.**")
    assert list(found) == [1, 2, 4, 6]
    for budget, (best, fpml, og, _) in found.items():
        printed = TABLE_2[budget]
        shown = (best, fpml.split(" / ")[0], og.split(" / ")[0])
        # With one pick, OG is Exp3.
        for cell, name in zip(shown, (BEST, FPML, OG if budget > 1 else EXP3), strict=True):
            assert cell == f"{printed[name].mean:.3f}"[1:]
