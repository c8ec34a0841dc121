"""The product law: against all tuples, as a supergradient; its rate; its calls."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pickbest import theory
from pickbest.feasibility import Box, FeasibilityStatus, ProductLaw, TupleLaw, solve_feasibility
from pickbest.feasibility.calls import calls_of
from pickbest.feasibility.phases import EAGER_SHARE, SPARE_ACCURACY, schedule, sign_rate
from pickbest.feasibility.sets import System
from studies.linear_programs.generated_problems import MinimalOracle, random_problem


def a_law(rng: np.random.Generator, n: int, budget: int) -> ProductLaw:
    return ProductLaw(rng.dirichlet(np.full(n, 0.5)), budget)


def as_tuples(law: ProductLaw) -> TupleLaw:
    tuples = np.array(list(product(range(len(law.probabilities)), repeat=law.budget)))
    return TupleLaw(tuples, law.probabilities[tuples].prod(axis=1))


@pytest.mark.parametrize("budget", [2, 3, 4])
def test_expectation_is_that_over_all_tuples(budget: int) -> None:
    rng = np.random.default_rng(budget)
    for _ in range(20):
        law, slacks = a_law(rng, 5, budget), rng.normal(size=5).round(1)
        expected = as_tuples(law).expected_minimum(slacks)
        assert law.expected_minimum(slacks) == pytest.approx(expected, abs=1e-12)


def test_tiny_probabilities_lose_no_digits() -> None:
    law = ProductLaw(np.array([1.0 - 3e-18, 1e-18, 2e-18]), 2)
    np.testing.assert_allclose(
        law.multipliers(np.array([1.0, 0.0, -1.0])), [1.0, 2e-18, 4e-18], rtol=1e-12
    )


@pytest.mark.parametrize("budget", [2, 3])
def test_multipliers_are_a_supergradient(budget: int) -> None:
    rng = np.random.default_rng(budget)
    drawn = a_law(rng, 6, budget)
    for law in (drawn, as_tuples(drawn)):
        for _ in range(200):
            here, there = rng.normal(size=(2, 6))
            y = law.multipliers(here)
            assert y.sum() == pytest.approx(1.0)
            assert y @ here == pytest.approx(law.expected_minimum(here))
            assert y @ there >= law.expected_minimum(there) - 1e-12


@pytest.mark.parametrize("budget", [2, 3, 4, 6, 20])
def test_the_rate_is_the_largest_that_keeps_the_sign(budget: int) -> None:
    """Mix loss 1/2 on the two lines of the reduction: the smallest draw costs at most 1/2."""

    def dearest(rate: float) -> float:
        grid = np.linspace(0.0, 0.5, 20_001)[1:]
        zero, one = np.zeros(len(grid)), np.ones(len(grid))
        low, high = np.concatenate([zero, 0.5 - grid]), np.concatenate([0.5 + grid, one])
        half = np.exp(-rate / 2)
        chance = (np.exp(-rate * low) - half) / (np.exp(-rate * low) - np.exp(-rate * high))
        return float((low + (high - low) * chance**budget).max())

    assert dearest(sign_rate(budget)) <= 0.5 + 1e-12
    assert dearest(1.001 * sign_rate(budget)) > 0.5
    left = theory.constant_rate(budget=budget) / sign_rate(budget) / (1 - 1 / EAGER_SHARE)
    assert left + SPARE_ACCURACY <= 1.0


@pytest.mark.parametrize("budget", [2, 3])
def test_the_last_phase_keeps_the_promise(budget: int) -> None:
    """With the eager phase held back and an oracle that does the least."""
    for seed in range(3):
        rows, bounds = random_problem(np.random.default_rng(seed), 8, 3, margin=0.0)
        system, box = System.of(rows, bounds), Box.cube(3, -1.0, 1.0)
        oracle = MinimalOracle(system, box, budget)
        calls = theory.program_calls(
            n_constraints=8, budget=budget, width=oracle.width(), epsilon=0.1
        )
        last = schedule(8, budget, calls)[1:]
        *_, call = calls_of(system, oracle, oracle.width(), last, 0.1 * SPARE_ACCURACY, 0)
        assert call.number <= calls
        assert call.tally.worst_slack >= -0.1


def test_default_calls_are_those_of_the_product_law() -> None:
    rows, bounds = random_problem(np.random.default_rng(0), 60, 5, margin=0.0)
    box = Box.cube(5, -1.0, 1.0)
    found = solve_feasibility(rows, bounds, box, 0.01, 2)
    assert found.status is FeasibilityStatus.FEASIBLE
    assert found.samples is None
    assert found.calls <= found.calls_bound
    assert found.calls_bound == theory.program_calls(
        n_constraints=60, budget=2, width=found.width, epsilon=0.01
    )
    proof = solve_feasibility(rows, bounds, box, 0.01, 2, learner="fpml", max_calls=1)
    assert proof.calls_bound > 10 * found.calls_bound
