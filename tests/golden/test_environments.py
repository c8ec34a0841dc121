"""Environments deal the costs that they dealt in 0.1.0, and simulations on them end the same."""

from __future__ import annotations

import numpy as np
import pytest

from pickbest import make_environment, make_learner, simulate
from pickbest.catalog import describe
from pickbest.core import ENVIRONMENT_STREAM, replicate_keys, rng_for
from pickbest.environments import Bernoulli, Predicting, Shuffled, Table
from tests.golden.golden_assets import FOLDER, Unpacker, make_table, read_json
from tests.golden.replay import assert_same, assert_same_data, of_today, plain

pytestmark = pytest.mark.usefixtures("auto_of_0_1")
ROWS = {row["name"]: row for row in read_json(FOLDER / "environments.json.gz")}
ARRAYS = Unpacker(FOLDER / "environments.npz")
ROUNDS = 20
# Those that have no name in the catalog.
BY_HAND = {
    "predicting leaders": lambda: Predicting(make_learner("leaders", 6, 2), ROUNDS),
    "predicting thompson": lambda: Predicting(make_learner("thompson", 6, 2), ROUNDS),
    "shuffled": lambda: Shuffled(Table(make_table("uniform", 5, 1, ROUNDS, 6)[0])),
    "bernoulli 0.1 to 0.6": lambda: Bernoulli(6, ROUNDS, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)),
}


def environment_of(name):
    return BY_HAND[name]() if name in BY_HAND else make_environment(name, rounds=ROUNDS)


@pytest.mark.parametrize("name", ROWS)
def test_environments_are_what_they_were(name):
    environment, row = environment_of(name), ROWS[name]
    n_arms = environment.n_arms
    about = {"n_arms": n_arms, "adaptive": environment.adaptive, "varies": environment.varies}
    assert about == {key: row[key] for key in about}
    assert_same_data(describe(environment), of_today(row["described"]), name)
    for dealt in row["costs"]:
        keys = replicate_keys(dealt["seed"], 2, 0, ENVIRONMENT_STREAM)
        state, expected = environment.start(2), ARRAYS.get(dealt["costs"])
        for t in range(ROUNDS):
            costs = environment.costs(state, t, rng_for(keys, t)).copy()
            assert_same(costs, expected[:, t].copy(), (name, t))
            first = (t // 2 + np.arange(2)) % n_arms
            arms = np.stack([first, (first + n_arms // 2) % n_arms], axis=1)
            state = environment.react(state, arms, costs)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("learner", ["auto", "fpml-partial", "og"])
def test_simulations_end_as_they_did(name, learner):
    environment = environment_of(name)
    for row in ROWS[name]["simulations"]:
        if row["learner"] != learner:
            continue
        players = {learner: make_learner(learner, environment.n_arms, 2, ROUNDS)}
        simulation = simulate(players, environment, replicates=6, seed=row["seed"])
        run, what = simulation.run(learner), (name, learner, row["seed"])
        for part in ("paid", "best_arm", "totals"):
            assert_same(getattr(run, part), ARRAYS.get(row[part]), (*what, part))
        found = {
            "mean_cost": simulation.mean_cost(learner),
            "std_reward": simulation.std_reward(learner),
            "regret": {
                against: simulation.regret(learner, against).tolist() for against in row["regret"]
            },
        }
        assert_same_data(plain(found), {key: row[key] for key in found}, what)
