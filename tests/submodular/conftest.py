"""What the tests of jobs share: one small game of every family, and every kind of slot."""

from collections.abc import Callable

import numpy as np
import pytest

from pickbest.kernels.rules import AnyCompiled
from pickbest.learners import FPML, AdaHedge, Exp3, FPMLPartial, Hedge, Weights
from pickbest.submodular.jobs import (
    TableJobs,
    best_of,
    coverage,
    probabilistic_coverage,
    time_to_solve,
)

ROUNDS, N_ARMS, N_ITEMS = 40, 6, 7


def _weights(rng: np.random.Generator) -> np.ndarray:
    return rng.dirichlet(np.ones(N_ITEMS), ROUNDS)


FAMILIES: dict[str, Callable[[np.random.Generator], TableJobs]] = {
    "best_of": lambda rng: best_of(rng.random((ROUNDS, N_ARMS))),
    "coverage": lambda rng: coverage(rng.random((N_ARMS, N_ITEMS)) < 0.4, _weights(rng)),
    "partial coverage": lambda rng: coverage(rng.random((ROUNDS, N_ARMS, N_ITEMS)), _weights(rng)),
    "probabilistic_coverage": lambda rng: probabilistic_coverage(
        0.6 * rng.random((ROUNDS, N_ARMS, N_ITEMS)), _weights(rng)
    ),
    "time_to_solve": lambda rng: time_to_solve(
        rng.exponential(3.0, (ROUNDS, N_ARMS // 2)), durations=[2, 5], horizon=6.0
    ),
}

SLOTS: dict[str, Callable[[int, int], AnyCompiled]] = {
    "hedge": lambda n_arms, _: Hedge(n_arms, 0.4),
    "adahedge": lambda n_arms, _: AdaHedge(n_arms),
    "exp3": lambda n_arms, _: Exp3(n_arms, 0.2),
    "fpml": lambda n_arms, budget: FPML(n_arms, budget, 0.5),
    "fpml-partial": lambda n_arms, budget: FPMLPartial(n_arms, budget, 0.5),
    "fpml-geometric": lambda n_arms, budget: FPMLPartial(
        n_arms, budget, 0.5, Weights.GEOMETRIC, resamples=9
    ),
    "fpml-explore": lambda n_arms, budget: FPMLPartial(
        n_arms, budget, 0.5, Weights.EXPLORE, explore=0.5
    ),
}


@pytest.fixture(params=FAMILIES)
def jobs(request: pytest.FixtureRequest) -> TableJobs:
    """Forty rounds of a family."""
    return FAMILIES[request.param](np.random.default_rng(1))


@pytest.fixture(params=SLOTS)
def slot(request: pytest.FixtureRequest) -> Callable[[int, int], AnyCompiled]:
    """A function (n_arms, budget) -> learner for one slot."""
    return SLOTS[request.param]
