"""Linear programs and games end as in 0.1.0: verdicts, solutions, certificates, calls."""

from __future__ import annotations

from dataclasses import asdict
from importlib.metadata import version

import numpy as np
import pytest

from pickbest.feasibility import Box, Simplex, solve_feasibility, solve_game
from pickbest.feasibility.sets import System, width_over
from studies.linear_programs.generated_problems import FAMILIES
from studies.linear_programs.minimal_oracle import MinimalOracle
from tests.golden.golden_assets import FOLDER, read_json
from tests.golden.replay import EXACT, RECORDED, assert_same_data, plain

ASSETS = read_json(FOLDER / "feasibility.json.gz")
SETS = {"Box": Box, "Simplex": Simplex}
# Where several x are best, another HiGHS may find another: then only these fields are the same.
SAME_HIGHS = EXACT and version("highspy") == RECORDED["highspy"]
BY_HIGHS, IN_ANY_CASE = ("set cover", "packing"), ("status", "calls_bound", "epsilon", "budget")


def rows_of(family, problem=None):
    """Those that can still be asked: no balls, no choice of samples."""
    return [
        row
        for row in ASSETS["problems"]
        if (row["family"], row.get("problem")) == (family, problem)
        and "samples" not in row["options"]
        and (family != "by hand" or next(iter(row["set"].values())) in SETS)
    ]


def as_then(options, budget):
    """0.1.0's default was eager FPML for every budget; now two draws or more have their own."""
    return {"tuning": "eager"} | options if budget > 1 else options


def solved(row, system, convex):
    options = as_then(dict(row["options"]), row["options"]["budget"])
    if options.pop("grudging", False):
        convex = MinimalOracle(system, convex, options["budget"])
    return plain(asdict(solve_feasibility(system.matrix, system.bounds, convex, **options)))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("problem", [0, 1])
def test_problems_end_as_they_did(family, problem):
    """One set for all rows, in their order: HiGHS starts from the solution before, and which x
    it finds, where several are best, depends on that."""
    rng = np.random.default_rng([0, problem, list(FAMILIES).index(family)])
    system, convex = FAMILIES[family](rng)
    width = width_over(convex, system)
    for row in rows_of(family, problem):
        made = {"A": system.matrix, "b": system.bounds, "width": width}
        given = {"A": row["A"], "b": row["b"], "width": row["found"]["width"]}
        assert_same_data(plain(made), given, family)
        found = solved(row, system, convex)
        expected = {key: row["found"][key] for key in found}
        if family in BY_HIGHS and not SAME_HIGHS:
            found, expected = ({key: of[key] for key in IN_ANY_CASE} for of in (found, expected))
        assert_same_data(found, expected, (family, row["options"]))


def test_problems_by_hand_end_as_they_did():
    for row in rows_of("by hand"):
        kind, *arguments = row["set"].values()
        convex = SETS[kind](*(np.array(a) if isinstance(a, list) else a for a in arguments))
        system = System.of(np.array(row["A"]), np.array(row["b"]))
        found = solved(row, system, convex)
        assert_same_data(found, {key: row["found"][key] for key in found}, row["set"])


def test_every_problem_is_replayed():
    known = {(family, problem) for family in FAMILIES for problem in (0, 1)} | {("by hand", None)}
    assert {(row["family"], row.get("problem")) for row in ASSETS["problems"]} == known


@pytest.mark.parametrize(
    "row",
    [row for row in ASSETS["games"] if "samples" not in row["options"]],
    ids=lambda row: f"budget {row['budget']}",
)
def test_games_end_as_they_did(row):
    options = as_then(row["options"], row["budget"])
    game = solve_game(np.array(row["payoffs"]), row["epsilon"], row["budget"], **options)
    assert_same_data(plain(asdict(game)), row["found"], row["options"])
