"""Online submodular maximisation as 0.1.0 did it: values, lengths, states, best schedules."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from pickbest.catalog import rebuild
from pickbest.core import replicate_keys, rng_for
from pickbest.core.states import arrays_of
from pickbest.learners.states_0_1 import slots_from_flat
from pickbest.submodular import OnlineGreedy, online_greedy, online_hybrid, play_jobs
from pickbest.submodular.jobs import (
    FunctionJobs,
    best_of,
    best_schedule,
    coverage,
    facility_location,
    greedy_schedule,
    probabilistic_coverage,
    time_to_solve,
)
from studies.jobs import theorem6_experiment
from tests.golden.golden_assets import FOLDER, Unpacker, read_json, told_cost
from tests.golden.replay import assert_same, assert_same_data, plain

ASSETS = read_json(FOLDER / "jobs.json.gz")
ARRAYS = Unpacker(FOLDER / "jobs.npz")
MAKERS = {"online_greedy": online_greedy, "online_hybrid": online_hybrid}


def families():
    rng = np.random.default_rng(71)
    rewards = rng.random((40, 6))
    rng.random((2, 40, 6))  # once the rewards of a family that is gone
    covers = (rng.random((6, 8)) < 0.35).astype(np.float64)
    weights = rng.dirichlet(np.full(8, 0.5), 40)
    benefits = rng.random((6, 8))
    chances = rng.random((6, 8))
    times = np.where(rng.random((40, 3)) < 0.2, np.inf, 9.0 * rng.random((40, 3)))

    def some(t, schedule):
        missing = 1.0
        for action in set(schedule):
            missing *= 1.0 - told_cost(t, action.activity) / 2.0
        return 1.0 - missing

    return {
        "best of": best_of(rewards),
        "coverage": coverage(covers, weights),
        "facility location": facility_location(benefits, weights),
        "probabilistic coverage": probabilistic_coverage(chances, weights),
        "time to solve": time_to_solve(times, [1, 3], horizon=9.0),
        "function": FunctionJobs(some, range(6), 40),
    }


def learner_of(case, jobs):
    if case["make"] == "OnlineGreedy":
        return OnlineGreedy(rebuild(case["inner"]), case["slots"], tuple(jobs.actions))
    make = MAKERS[case["make"]]
    return make(jobs.actions, case["budget"], jobs.rounds, **case["options"])


@pytest.mark.parametrize("family", families())
def test_jobs_are_played_as_they_were(family):
    jobs = families()[family]
    for case in ASSETS["cases"]:
        if case["family"] != family or case.get("options", {}).get("hard_budget"):
            continue
        learner = learner_of(case, jobs)
        run = play_jobs(learner, jobs, replicates=2, seed=4)
        assert_same(run.values, ARRAYS.get(case["values"]), case["described"])
        assert_same(run.lengths, ARRAYS.get(case["lengths"]), case["described"])
        keys, state = replicate_keys(4, 2), learner.start(2)
        for t in range(jobs.rounds):
            job = jobs.round(t)
            plan = learner.pick(state, rng_for(keys, t))
            assert_same(learner.values(plan, job), run.values[:, t].copy(), case["described"])
            state = learner.learn(state, plan, job)
        expected = arrays_of(
            slots_from_flat(learner.inner, learner.slots, ARRAYS.get_all(case["state"]))
        )
        for name, array in arrays_of(state).items():
            assert_same(array, expected[name], (case["described"], name))


def test_schedules_in_hindsight_are_what_they_were():
    made = families()
    for row in ASSETS["offline"]:
        if row["family"] not in made:
            continue
        jobs, budget = made[row["family"]], row["budget"]
        found = {
            "greedy": asdict(greedy_schedule(jobs, budget)),
            "best": asdict(best_schedule(jobs, budget)),
        }
        for name, value in json.loads(json.dumps(found)).items():
            assert_close(value, row[name])


def assert_close(found, expected):
    """Equal, but for the last digits of sums and of the solver's bounds."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            assert_close(found[name], value)
    else:
        assert found == pytest.approx(expected, rel=1e-9)


def test_theorem_6_is_measured_as_it_was():
    found = theorem6_experiment(seed=1, replicates=2, target_budget=2, horizons=(20, 40))
    assert_same_data(plain(found), ASSETS["theorem6_experiment"], "theorem 6")
