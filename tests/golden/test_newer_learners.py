"""Learners that 0.1.0 did not have play as they did when this was recorded: picks and states.

`python tests/golden/test_newer_learners.py` records them anew, where a change is meant.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pickbest.catalog import make_learner
from pickbest.core import Choice, Learner, State, replicate_keys, rng_for, visible
from pickbest.core.intervals import Intervals
from pickbest.core.states import arrays_of
from pickbest.environments.runtimes import Runtimes
from pickbest.learners import Auto, AutoInContext, Pairwise, Schedules, Thompson
from pickbest.learners.intervals import FromIntervals
from pickbest.learners.intervals_in_context import IntervalsInContext
from pickbest.portfolio.run.costs import Runtime
from pickbest.simulation.replay import Races, orders, replay_plans

FILE = Path(__file__).parent / "newer_learners.json"
ROUNDS, REPLICATES = 90, 2
SPECS = {
    "fpml:noise=gumbel": [(6, 2), (6, 5), (20, 3), (20, 13), (40, 3)],
    "hedge": [(6, 2), (6, 3), (40, 3)],
    "hedge:set_size=2": [(6, 4), (12, 4)],
    "hedge-partial": [(6, 2), (6, 3), (40, 5)],
}
ARMS, BUDGET = 6, 2


def costs(n_arms: int, t: int) -> np.ndarray:
    """Arms differ, some complement each other, some costs are 0 or 1."""
    rng = np.random.default_rng([n_arms, t])
    drawn = rng.random((REPLICATES, n_arms)) ** (1.0 + np.arange(n_arms) % 5)
    return np.where(drawn < 0.1, 0.0, np.where(drawn > 0.9, 1.0, drawn))


def features(t: int) -> np.ndarray:
    rng = np.random.default_rng([77, t])
    return np.tile([10.0**4 * rng.random(), float(t % 3), rng.normal()], (REPLICATES, 1))


def raced(choice: Choice, t: int) -> Intervals:
    """Costs are times; every third round runs to its end, the others until the first answer."""
    took = np.take_along_axis(costs(ARMS, t), choice.arms, axis=1)
    watched = np.full(REPLICATES, t % 3 == 0)
    ran = np.where(watched[:, None], took, took.min(axis=1, keepdims=True))
    high = np.where(took <= ran, took, 1.0)
    return Intervals(ran, high, ran, np.full(REPLICATES, 1 / 3), watched)


def rounds_of(learner: Learner, kind: str) -> tuple[list[Choice], State]:
    state, choices = learner.start(REPLICATES), []
    known: Any = learner
    for t in range(ROUNDS):
        draws = rng_for(replicate_keys(5, REPLICATES), t)
        told = "features" in kind
        choice = known.pick_in(state, draws, features(t)) if told else known.pick(state, draws)
        if kind == "intervals":
            state = known.learn_intervals(state, choice, raced(choice, t))
        elif kind == "intervals, features":
            state = known.learn_intervals_in(state, choice, raced(choice, t), features(t))
        elif kind == "features":
            seen = visible(learner, choice, costs(ARMS, t))
            state = known.learn_in(state, choice, seen, features(t))
        else:
            state = learner.learn(state, choice, visible(learner, choice, costs(learner.n_arms, t)))
        choices.append(choice)
    return choices, state


def transcript(choices: list[Choice], state: State) -> dict[str, Any]:
    weights = [1.0 if one.weights is None else float(one.weights.sum()) for one in choices]
    sums = {path: float(array.sum()) for path, array in arrays_of(state).items() if array.size}
    return {"arms": [one.arms.tolist() for one in choices], "weights": weights, "state": sums}


def schedules(price: float) -> dict[str, Any]:
    seconds = np.random.default_rng(3).exponential(4.0, (60, ARMS)) * (1.0 + np.arange(ARMS))
    names = tuple(f"p{n}" for n in range(len(seconds)))
    table = Runtimes(names, tuple("abcdef"), seconds, {})
    races = Races.of(table, 10.0, Runtime())
    planner = Schedules(ARMS, BUDGET, price=price)
    played = replay_plans(races, planner, orders(60, 120, REPLICATES, 0))
    return {"arms": played.arms.tolist(), "weights": played.cpu_seconds.sum(axis=1).tolist()}


def cases() -> dict[str, Any]:
    """By name: what plays it."""
    found: dict[str, Any] = {}
    for spec, sizes in SPECS.items():
        for n_arms, budget in sizes:
            made = make_learner(spec, n_arms, budget, ROUNDS)
            found[f"{spec} {n_arms} {budget}"] = (made, "")
    for inner in (Auto, Pairwise, Thompson):
        found[f"intervals {inner.__name__}"] = (FromIntervals(inner(ARMS, BUDGET)), "intervals")
    found["intervals Auto, three"] = (FromIntervals(Auto(ARMS, 3)), "intervals")
    names = ("size", "kind", "noise")
    for budget in (1, 2, 3):
        found[f"features {budget}"] = (AutoInContext(ARMS, budget, names), "features")
    both = IntervalsInContext(ARMS, BUDGET, names)
    found["intervals, features"] = (both, "intervals, features")
    for price in (0.0, 0.3, 2.0):
        found[f"schedules {price}"] = price
    return found


def played(case: Any) -> dict[str, Any]:
    return schedules(case) if isinstance(case, float) else transcript(*rounds_of(*case))


@pytest.mark.parametrize("name", cases())
def test_they_play_as_they_did(name: str) -> None:
    expected = json.loads(FILE.read_text(encoding="utf-8"))[name]
    found = played(cases()[name])
    assert found["arms"] == expected["arms"]
    assert found["weights"] == pytest.approx(expected["weights"], rel=1e-8)
    known = pytest.approx(expected.get("state", {}), rel=1e-8, abs=1e-8)
    assert found.get("state", {}) == known


if __name__ == "__main__":
    recorded = {name: played(case) for name, case in cases().items()}
    FILE.write_text(json.dumps(recorded, separators=(",", ":")), encoding="utf-8")
