"""The experiments: verdicts follow from the numbers, and the numbers are right."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pickbest import theory
from pickbest.catalog import make_learner
from pickbest.environments import Table as Costs
from pickbest.report.document import Figure, Table, Verdict
from pickbest.simulation.simulate import simulate
from studies.paper import cost_sequences, recipes
from studies.paper.estimates import Estimate
from studies.paper.experiment import Setting
from studies.paper.parts import partial_feedback, worst_sequence
from studies.paper.parts.linear_programs import linear_programs, two_draws
from studies.paper.parts.lower_bounds import foreseeing
from studies.paper.recipes import CHAPTERS, RECIPES, Recipe, recipe_named
from studies.paper.recorded_rewards import find_rewards
from studies.report.sections import section_from_json, section_to_json

QUICK = [recipe for recipe in RECIPES if "linear_programs" not in recipe.experiment]
REWARDS = find_rewards()


def small(recipe: Recipe) -> Recipe:
    """The same part with short games."""
    changes = {
        "rounds": [50, 100, 200] if isinstance(recipe.options.get("rounds"), list) else 120,
        "hard_rounds": [100, 200],
        "log2_arms": [3, 5],
        "horizons": [[50, 100]] * 3,
        "naive_rounds": 1000,
    }
    options = {name: changes.get(name, value) for name, value in recipe.options.items()}
    return replace(recipe, options=options)


@pytest.mark.parametrize("recipe", QUICK, ids=lambda recipe: recipe.name)
def test_every_part_runs_and_keeps_through_json(recipe: Recipe) -> None:
    section = recipes.run_part(small(recipe), Setting(1, 4, REWARDS))
    assert any(isinstance(block, Verdict) for block in section.blocks)
    again = section_from_json(section_to_json(section))
    assert section_to_json(again) == section_to_json(section)
    for block in section.blocks:
        if isinstance(block, Table):
            assert all(len(row) == len(block.columns) for row in block.rows)
        if isinstance(block, Figure):
            drawn = [(line.look, line.line) for line in block.series if line.label]
            assert len(set(drawn)) == len(drawn), f"two curves of {block.name} look alike"


def lp_rows(status: str = "feasible") -> dict[str, Any]:
    """What the experiment with linear programs gives for one problem, in short."""
    row = {"family": "packing", "budget": 1, "problem": 0, "width": 1.0, "status": status}
    slope = {"family": "all feasible", "budget": 1, "theory": 2.0, "problems": 9}
    return {
        "calls": [
            {**row, "epsilon": 0.1, "calls": 90, "calls_bound": 100},
            {**row, "epsilon": 0.05, "calls": 360, "calls_bound": 400},
        ],
        "slopes": [{**slope, "slope": 2.1, "low": 2.0, "high": 2.2}],
        "verdicts": {"problems": 40, "wrong": 0, "undecided": 0},
        "applications": [],
    }


@pytest.mark.parametrize(
    ("change", "verdicts"),
    [
        ({}, [True, True]),
        ({"verdicts": {"problems": 40, "wrong": 1, "undecided": 0}}, [False, True]),
        ({"verdicts": {"problems": 40, "wrong": 0, "undecided": 1}}, [False, True]),
        ({"calls": lp_rows("undecided")["calls"]}, [False, True]),
        ({"slopes": [{**lp_rows()["slopes"][0], "slope": 1.5}]}, [True, False]),
        ({"slopes": [{**lp_rows()["slopes"][0], "slope": None, "low": None}]}, [True, False]),
    ],
)
def test_linear_programs_judge_what_was_measured(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], verdicts: list[bool]
) -> None:
    module = pytest.importorskip("studies.linear_programs.experiment")
    monkeypatch.setattr(module, "lp_experiment", lambda *_, **__: {**lp_rows(), **change})
    found = linear_programs(
        Setting(0, 2, REWARDS), budgets=[1], families=["packing"], with_applications=False
    )
    assert [block.holds for block in found.blocks if isinstance(block, Verdict)] == verdicts


def test_two_draws_judge_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    module = pytest.importorskip("studies.linear_programs.two_draws")
    row = {
        "family": "packing", "problem": 0, "epsilon": 0.01,
        "product": {"verified": True, "calls": 9, "calls_bound": 10},
        "proposition_8": {"calls": 100, "calls_bound": 200},
    }  # fmt: skip
    measured: dict[str, Any] = {"calls": [row], "slopes": [{"slope": 1.0}]}
    monkeypatch.setattr(module, "two_draws", lambda *_: measured)
    (good, _) = two_draws(Setting(0, 2, REWARDS)).blocks
    measured["slopes"] = [{"slope": 1.5}]
    (bad, _) = two_draws(Setting(0, 2, REWARDS)).blocks
    assert [good.holds, bad.holds] == [True, False]  # type: ignore[union-attr]


def test_names_are_unique_and_chapters_known() -> None:
    names = [recipe.name for recipe in RECIPES]
    assert len(set(names)) == len(names)
    assert not set(names) & set(CHAPTERS)
    assert {recipe.chapter for recipe in RECIPES} == set(CHAPTERS)


def test_propositions_5_and_7_are_shown_to_fail() -> None:
    section = recipes.run_part(recipe_named("top-set"), Setting(0, 20, REWARDS))
    verdict = section.blocks[0]
    assert isinstance(verdict, Verdict)
    assert verdict.holds is False
    assert "Proposition 7 is false" in section.findings[0]
    recipe = recipe_named("partial-feedback")
    options = {**recipe.options, "hard_rounds": [5_000, 20_000]}
    section = recipes.run_part(replace(recipe, options=options), Setting(0, 40, REWARDS))
    verdict = section.blocks[0]
    assert isinstance(verdict, Verdict)
    assert verdict.holds is False
    assert "Proposition 5 is false" in section.findings[0]
    assert "the paper's own naive estimator" in section.findings[0]


def test_the_naive_estimator_is_the_learners_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is computed by numbers of explorations is what FPML-partial plays."""
    n_arms, budget, rounds, runs = 10, 3, 2_000, 400
    monkeypatch.setattr(partial_feedback, "LOOKS", 200)
    computed = partial_feedback.naive_regret(Setting(0, runs, REWARDS), n_arms, budget, rounds)
    learner = make_learner(
        "fpml-partial", n_arms, budget + 1, rounds, "proposition_5", weights="explore", explore=1.0
    )
    costs = np.ones((rounds, n_arms))
    costs[:, -1] -= partial_feedback.NAIVE_GAP * np.sqrt(n_arms / rounds)
    played = Estimate.of(simulate({"own": learner}, Costs(costs), runs).regret("own"))
    assert abs(played.mean - computed.mean) < 4 * np.hypot(played.error, computed.error)
    assert played.mean > 10 * played.error


@pytest.mark.parametrize("budget", [1, 2, 3])
def test_left_out_is_the_law_of_fpml(budget: int) -> None:
    rng, epsilon = np.random.default_rng(budget), 0.4
    behind = np.sort(rng.integers(0, 8, budget + 1).astype(float))
    exact = worst_sequence.left_out(behind[None], epsilon)[0]
    assert exact.sum() == pytest.approx(1.0)
    noise = rng.exponential(1 / epsilon, (200_000, budget + 1))
    seen = np.bincount((noise - behind).argmin(axis=1), minlength=budget + 1) / 200_000
    np.testing.assert_allclose(seen, exact, atol=0.006)


@pytest.mark.parametrize(("budget", "rounds"), [(1, 5), (2, 4)])
def test_worst_regret_is_the_maximum_over_all_sequences(budget: int, rounds: int) -> None:
    epsilon, n_arms = 0.7, budget + 1
    vectors = [np.array(c, float) for c in itertools.product((0, 1), repeat=n_arms)]
    worst = -np.inf
    for sequence in itertools.product(vectors, repeat=rounds):
        totals, paid = np.zeros(n_arms), 0.0
        for costs in sequence:
            missed = worst_sequence.left_out((totals - totals.min())[None], epsilon)[0]
            without = [np.delete(costs, arm).min() for arm in range(n_arms)]
            paid += float(missed @ without)
            totals = totals + costs
        worst = max(worst, paid - totals.min())
    assert worst_sequence.worst_regret(budget, epsilon, rounds)[-1] == pytest.approx(worst)


def test_exact_regret_on_one_good_arm_agrees_with_simulation() -> None:
    learner = make_learner("fpml", 3, 2, 200)
    regret = simulate({"fpml": learner}, cost_sequences.one_good_arm(3, 200), 2000).regret("fpml")
    exact = theory.good_arm_regret(n_arms=3, budget=2, rounds=200, epsilon=learner.epsilon)  # type: ignore[attr-defined]
    assert abs(regret.mean() - exact) < 4 * regret.std() / np.sqrt(2000)


def test_our_sequences() -> None:
    assert cost_sequences.turns(6, 10, 2).costs_table.min(axis=1).sum() == 0
    assert (cost_sequences.narrowing(8, 20, 3).costs_table[:, 0] == 0).all()
    trap = cost_sequences.top_set_trap(100).costs_table
    assert set(np.argsort(trap.sum(axis=0))[:2]) == {0, 1}
    chased = cost_sequences.rotating_leaders(6, 90, budget=2)
    for learner in (make_learner("leaders", 6, 2), make_learner("fpml", 6, 2, epsilon=1e6)):
        regret = simulate({"it": learner}, chased, 1).regret("it")[0]
        assert regret == pytest.approx(30, abs=1), "the leaders pay in every round"
    estimates = cost_sequences.noisy_estimates(5, 20_000, 0.3, np.random.default_rng(0))
    np.testing.assert_allclose(estimates.mean(axis=0), [1, 1, 1, 1, 0.7], atol=0.04)
    costs = foreseeing(n_arms=5, rounds=50, budget=2)
    regret = theory.leaders_regret(costs, 2)[-1]
    assert regret == theory.deterministic_lower_bound(n_arms=5, budget=2, rounds=50)
