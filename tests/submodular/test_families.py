"""Families of jobs: values against plain Python, properties, and what bad input says."""

import math
from itertools import permutations

import numpy as np
import pytest

from pickbest.core import PickbestError
from pickbest.submodular.jobs import (
    Action,
    FunctionJobs,
    TableJobs,
    best_of,
    coverage,
    probabilistic_coverage,
    time_to_solve,
    unit_actions,
)

RNG = np.random.default_rng(0)
WEIGHTS = RNG.dirichlet(np.ones(5), 3)
TABLE = RNG.random((3, 4, 5))
COVERS = TABLE < 0.4
TIMES = np.array([[1.0, 4.0], [9.0, 3.0], [math.inf, math.inf]])


REFERENCES = {
    "best_of": (best_of(TABLE[..., 0]), lambda t, s: max((TABLE[t, a, 0] for a in s), default=0)),
    "coverage": (
        coverage(COVERS, WEIGHTS),
        lambda t, s: sum(WEIGHTS[t, i] for i in range(5) if any(COVERS[t, a, i] for a in s)),
    ),
    "partial coverage": (
        coverage(TABLE, WEIGHTS),
        lambda t, s: sum(
            WEIGHTS[t, i] * max((TABLE[t, a, i] for a in s), default=0) for i in range(5)
        ),
    ),
    "probabilistic_coverage": (
        probabilistic_coverage(TABLE, WEIGHTS),
        lambda t, s: sum(
            WEIGHTS[t, i] * (1 - math.prod(1 - TABLE[t, a, i] for a in s)) for i in range(5)
        ),
    ),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_values_are_those_of_plain_python(name: str) -> None:
    jobs, reference = REFERENCES[name]
    for arms in ([], [2], [0, 3], [1, 1, 2], [3, 2, 1, 0]):
        expected = [reference(t, arms) for t in range(3)]
        np.testing.assert_allclose(jobs.values(arms), expected, atol=1e-12)


def test_time_to_solve_rewards_the_quickest_run_that_is_long_enough() -> None:
    jobs = time_to_solve(TIMES, durations=[2, 5], horizon=10.0, activities=["a", "b"])
    assert [tuple(action) for action in jobs.actions] == [("a", 2), ("a", 5), ("b", 2), ("b", 5)]
    short_a, long_a, short_b, long_b = range(4)
    assert jobs.values([short_a])[0] == pytest.approx(0.9)
    assert jobs.values([long_b, short_a])[0] == pytest.approx(0.9)
    assert jobs.values([short_b])[0] == 0.0
    assert jobs.values([long_a, long_b])[1] == pytest.approx(0.7)
    assert jobs.values([0, 1, 2, 3])[2] == 0.0


def test_gains_and_rounds_agree_with_values(jobs: TableJobs) -> None:
    summary = jobs.start()
    for arm in (0, 4, 2):
        before, gains = jobs.worth(summary), jobs.gains(summary)
        summary = jobs.extend(summary, np.full(jobs.rounds, arm))
        np.testing.assert_allclose(jobs.worth(summary) - before, gains[:, arm], atol=1e-12)
    schedule = tuple(jobs.actions[arm] for arm in (0, 4, 2))
    assert jobs.round(3).value(schedule) == jobs.worth(summary)[3]


def test_every_family_is_monotone_and_submodular(jobs: TableJobs) -> None:
    for arms in permutations(range(jobs.n_arms), 3):
        one, two, three = (jobs.values(arms[:size]) for size in (1, 2, 3))
        assert np.all(one <= two + 1e-12)
        assert np.all(three - two <= jobs.values([arms[0], arms[2]]) - one + 1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: best_of([[0.5, 0.2], [0.1, 1.2]]), r"round 1: rewards .* 1.2 .* ⟨1⟩"),
        (lambda: best_of([[0.5, math.nan]]), r"round 0: rewards .* nan"),
        (lambda: best_of([0.5, 0.2]), r"\(rounds, n_arms\)"),
        (lambda: best_of([["a", "b"]]), "numbers"),
        (lambda: coverage([[1, 0]], [[0.5, 0.2], [0.7, 0.7]]), "round 1: .* 1.4"),
        (lambda: coverage([[1, 0]], [-0.5, 0.2]), "at least 0"),
        (lambda: coverage([[1, 0, 1]], [0.5, 0.2]), "do not fit"),
        (lambda: coverage([[1.0]], [1.0], actions=["a", "b"]), "2 actions for 1"),
        (lambda: best_of([[0.5]], actions=[Action("a", 0)]), "duration .*'a'.* got 0"),
        (lambda: best_of([[0.5]], actions=[Action("a", 1.5)]), "whole number"),
        (lambda: best_of([[0.5, 0.5]], actions=["a", "a"]), "twice"),
        (lambda: time_to_solve([[1.0, 2.0]], [0], 5.0), "duration"),
        (lambda: time_to_solve([[-1.0, 2.0]], [1], 5.0), "at least 0"),
        (lambda: time_to_solve([[1.0, 2.0]], [1], 0.0), "horizon"),
        (lambda: unit_actions(0), "activities"),
        (lambda: best_of([[0.5, 0.1]]).values([2]), "between 0 and 1"),
        (lambda: best_of([[0.5, 0.1]]).round(1), "round must be"),
        (lambda: FunctionJobs(lambda t, s: 0.0, [], 3), "at least one action"),
    ],
)
def test_bad_input_is_named(make: object, message: str) -> None:
    with pytest.raises(PickbestError, match=message):
        make()


def test_what_has_no_axis_of_rounds_is_the_same_in_all() -> None:
    entries, weights = RNG.random((3, 4)), RNG.dirichlet(np.ones(4), 6)
    jobs = coverage(entries, weights)
    assert (jobs.rounds, jobs.n_arms) == (6, 3)
    np.testing.assert_allclose(jobs.values([1]), weights @ entries[1])
