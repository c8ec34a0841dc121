"""Every named environment, and one that a user writes, passes the conformance suite."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from pickbest.catalog import environment_names, make_environment
from pickbest.core import State
from pickbest.environments import (
    Bernoulli,
    Chasing,
    Halving,
    Predicting,
    RegimeChange,
    Shuffled,
    Table,
    Task3,
)
from pickbest.learners import FPMLPartial, Thompson
from pickbest.testing.environments import check_environment

TABLE = Table(np.random.default_rng(0).random((20, 4)))
OTHERS = {
    "table": TABLE,
    "shuffled": Shuffled(TABLE),
    "bernoulli by arm": Bernoulli(3, 50, (0.1, 0.5, 0.9)),
    "one round": Bernoulli(8, 1),
    "halving by two": Halving(2, 5),
    "reversed table": RegimeChange(Task3()),
    "reversed chasing": RegimeChange(Chasing(6, 40, 3)),
}


@pytest.mark.parametrize("name", environment_names())
def test_named_environments_conform(name):
    check_environment(make_environment(name), budget=2)


@pytest.mark.parametrize("name", OTHERS)
def test_other_environments_conform(name):
    check_environment(OTHERS[name])


@pytest.mark.parametrize("learner", [Thompson(6, 2), FPMLPartial(6, 2, 0.5)])
def test_predictions_conform(learner):
    check_environment(Predicting(learner, 40), budget=2)


@dataclass(frozen=True)
class Sloppy:
    """Breaks one promise at a time."""

    n_arms: int = 3
    rounds: int = 10
    adaptive: bool = False
    varies: bool = True
    fault: str = ""

    def start(self, replicates: int) -> State:
        return {"picked": np.zeros((replicates, self.n_arms)), "asked": np.zeros(1)}

    def costs(self, state, round_index, rng):
        costs = rng.uniforms(self.n_arms)
        if self.fault == "range":
            return costs * 2
        if self.fault == "shape":
            return costs[:1]
        if self.fault == "kind":
            return costs.astype(np.float32)
        if self.fault == "seed":
            return np.random.default_rng().random(costs.shape)
        if self.fault == "batch":
            return np.clip(costs - costs.mean() / 2, 0, 1)
        if self.fault == "constant":
            return np.full(costs.shape, 0.5)
        if self.fault == "impure":
            state["asked"] += 1
            return costs / state["asked"]
        if self.fault == "memory":
            return np.clip(costs - state["picked"] / 100, 0, 1)
        return costs

    def react(self, state, arms, costs):
        rows = np.arange(len(arms))[:, None]
        state["picked"][rows, arms] += 1
        return state


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("range", r"costs must be in \[0, 1\]"),
        ("shape", r"costs must have shape \(5, 3\), got \(1, 3\)"),
        ("kind", "costs must be float64, got float32"),
        ("seed", "the same seed gave two different tables"),
        ("batch", "replicate 0 alone meets other costs"),
        ("constant", "no replicate differs, but varies is True"),
        ("impure", "costs changed the state"),
        ("memory", "costs depend on what was picked, but adaptive is False"),
    ],
)
def test_the_suite_finds_what_is_wrong(fault, message):
    check_environment(Sloppy())
    with pytest.raises(AssertionError, match=message):
        check_environment(Sloppy(fault=fault))


def test_the_suite_finds_false_claims():
    check_environment(Sloppy(adaptive=True, fault="memory"))
    with pytest.raises(AssertionError, match="costs ignore what was picked"):
        check_environment(Sloppy(adaptive=True))
    with pytest.raises(AssertionError, match="replicates differ, but varies is False"):
        check_environment(replace(Sloppy(), varies=False))
