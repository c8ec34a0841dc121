"""A job that misbehaves is named, with its round and schedule, and teaches nothing."""

from collections.abc import Callable

import numpy as np
import pytest

from pickbest.core import (
    Choice,
    PickbestError,
    replicate_keys,
    rng_for,
)
from pickbest.core.states import copy_state, same_state
from pickbest.learners import Hedge, Thompson, Uniform
from pickbest.submodular import (
    OnlineGreedy,
    PickedSchedules,
    online_greedy,
    online_hybrid,
    play_jobs,
)
from pickbest.submodular.jobs import (
    Action,
    FunctionJobs,
    Schedule,
    best_of,
)


def too_much(t: int, schedule: Schedule) -> float:
    return 0.7 * len(schedule)


def failing(t: int, schedule: Schedule) -> float:
    if len(schedule) == 2:
        raise KeyError("no such file")
    return 0.1


@pytest.mark.parametrize("feedback", ["full", "picked"])
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (too_much, r"round 3: a job must be between 0 and 1, got 1.4 for the schedule ⟨\d, \d⟩"),
        (failing, r"round 3: the job failed on the schedule ⟨\d, \d⟩: KeyError: 'no such file'"),
        (lambda t, s: float("nan"), r"round 3: .* got nan for the schedule"),
        (lambda t, s: "many", r"round 3: the job failed .*ValueError"),
    ],
)
def test_nothing_is_learned_from_a_bad_round(
    function: Callable[[int, Schedule], float], message: str, feedback: str
) -> None:
    learner = online_greedy(4, 3, 10, feedback=feedback)
    state = learner.start(2)
    before = copy_state(state)
    plan = learner.pick(state, rng_for(replicate_keys(0, 2), 3))
    with pytest.raises(PickbestError, match=message):
        learner.learn(state, plan, FunctionJobs(function, range(4), rounds=10).round(3))
    assert same_state(before, state)


def test_a_plan_over_the_budget_is_refused() -> None:
    learner = online_greedy(4, 2, 10)
    state, job = learner.start(1), best_of(np.full((10, 4), 0.5)).round(7)
    for arms in ([[0, 1, 2]], [[0, 4]], [[-1, 0]]):
        plan = PickedSchedules(Choice(np.array(arms)), np.ones(np.shape(arms), np.bool_))
        with pytest.raises(PickbestError, match=r"round 7: .*\[\["):
            learner.learn(state, plan, job)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: online_hybrid([Action("a", 2), Action("b")], 2, 9, 2), "duration 1"),
        (lambda: online_hybrid(4, 3, 9, 2), "2 does not divide 3"),
        (lambda: online_greedy(4, 5, 9, distinct=True), "budget must be between 1 and n_arms=4"),
        (lambda: online_greedy(4, 0, 9), "budget"),
        (lambda: online_greedy(4, 2, 9, feedback="all"), "unknown feedback"),
        (lambda: online_greedy(4, 2, 9, tuning="best"), "unknown tuning"),
        (lambda: OnlineGreedy(Hedge(3, 0.1), 2, (Action("a"),)), "1 actions for n_arms=3"),
        (lambda: play_jobs(online_greedy(4, 2, 9), best_of([[0.1]])), "n_arms=4"),
        (
            lambda: play_jobs(online_greedy(1, 1, 9), best_of([[0.1]], [Action("a", 2)])),
            "durations",
        ),
    ],
)
def test_bad_settings_are_named(make: Callable[[], object], message: str) -> None:
    with pytest.raises(PickbestError, match=message):
        make()


def test_a_slot_needs_a_learner_that_leaves_arms_out() -> None:
    for learner in (Uniform(4, 1), Thompson(4, 1)):
        with pytest.raises(PickbestError, match=f"{type(learner).__name__} cannot fill a slot"):
            OnlineGreedy(learner, 2)
