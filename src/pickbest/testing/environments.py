"""What every environment must do, as checks that anyone can run on one of their own.

    from pickbest.testing.environments import check_environment
    check_environment(MyEnvironment(n_arms=6, rounds=100))

Each check raises AssertionError with one sentence. Nothing here is random: seeds are fixed.
"""

import copy
from collections.abc import Callable

import numpy as np

from pickbest.core import (
    ENVIRONMENT_STREAM,
    Environment,
    FloatArray,
    IntArray,
    KeyArray,
    replicate_keys,
    rng_for,
)

REPLICATES, MOST_ROUNDS = 5, 60

# What a player picks: (replicates, round) -> arms.
Picker = Callable[[int, int], IntArray]


def check_environment(environment: Environment, *, budget: int = 1) -> None:
    """Run every check. budget: how many arms the players of the checks pick in a round."""
    of_kind = check_adaptive if environment.adaptive else check_oblivious
    for check in (check_dealt_costs, check_same_seed_same_costs, check_replicates_apart,
                  check_varies, check_costs_are_pure, of_kind):  # fmt: skip
        check(environment, budget=budget)


def check_dealt_costs(environment: Environment, *, budget: int = 1) -> None:
    """Costs are numbers in [0, 1], one for each replicate and arm, in every round."""
    assert environment.n_arms >= 1, f"n_arms must be at least 1, got {environment.n_arms}"
    assert environment.rounds >= 1, f"rounds must be at least 1, got {environment.rounds}"
    table = played(environment, _keys(), _first_arms(budget))
    shape = (REPLICATES, environment.n_arms)
    for t, costs in enumerate(table):
        assert costs.shape == shape, f"costs must have shape {shape}, got {costs.shape}"
        assert costs.dtype == np.float64, f"costs must be float64, got {costs.dtype}"
        within = (costs >= 0.0) & (costs <= 1.0)
        assert within.all(), f"costs must be in [0, 1], got {costs[~within][0]} in round {t}"


def check_same_seed_same_costs(environment: Environment, *, budget: int = 1) -> None:
    """The same seed and the same picks give the same costs."""
    picker = _first_arms(budget)
    first, second = (played(environment, _keys(), picker) for _ in range(2))
    assert np.array_equal(first, second), "the same seed gave two different tables of costs"


def check_replicates_apart(environment: Environment, *, budget: int = 1) -> None:
    """A replicate alone meets the costs that it meets among others."""
    picker = _first_arms(budget)
    together = played(environment, _keys(), picker)
    for replicate in range(REPLICATES):
        alone = played(environment, _keys()[replicate : replicate + 1], picker)
        assert np.array_equal(alone[:, 0], together[:, replicate]), (
            f"replicate {replicate} alone meets other costs than among {REPLICATES}"
        )


def check_varies(environment: Environment, *, budget: int = 1) -> None:
    """`varies` says whether replicates meet different costs (adaptive ones: if they pick so)."""
    table = played(environment, _keys(), _first_arms(budget))
    alike = bool(np.all(table == table[:, :1]))
    assert environment.varies or alike, "replicates differ, but varies is False"
    if environment.varies and not environment.adaptive:
        assert not alike, "no replicate differs, but varies is True"


def check_costs_are_pure(environment: Environment, *, budget: int = 1) -> None:
    """`costs` leaves the state as it is, and asking twice gives the same costs."""
    state, keys = environment.start(REPLICATES), _keys()
    for t in range(_rounds(environment)):
        untouched = copy.deepcopy(state)
        first = environment.costs(state, t, rng_for(keys, t)).copy()
        again = environment.costs(untouched, t, rng_for(keys, t))
        twice = environment.costs(state, t, rng_for(keys, t))
        assert np.array_equal(first, again), f"the same state gave other costs in round {t}"
        assert np.array_equal(first, twice), f"costs changed the state in round {t}"
        state = environment.react(state, _first_arms(budget)(REPLICATES, t), first)


def check_oblivious(environment: Environment, *, budget: int = 1) -> None:
    """Costs depend on the round alone: neither on what was picked nor on the rounds before."""
    table = played(environment, _keys(), _first_arms(budget))
    other = played(environment, _keys(), _last_arms(environment, budget))
    assert np.array_equal(table, other), "costs depend on what was picked, but adaptive is False"
    for t in reversed(range(len(table))):
        alone = environment.costs(environment.start(REPLICATES), t, rng_for(_keys(), t))
        assert np.array_equal(alone, table[t]), f"the costs of round {t} depend on earlier rounds"


def check_adaptive(environment: Environment, *, budget: int = 1) -> None:
    """Two players that pick different arms come to meet different costs."""
    if budget == environment.n_arms:
        return
    table = played(environment, _keys(), _first_arms(budget))
    other = played(environment, _keys(), _last_arms(environment, budget))
    assert np.array_equal(table[0], other[0]), "the first costs depend on what is picked later"
    assert not np.array_equal(table, other), "costs ignore what was picked, but adaptive is True"


def played(environment: Environment, keys: KeyArray, picker: Picker) -> FloatArray:
    """(rounds, replicates, n_arms): the costs that a player meets, round by round."""
    state, met = environment.start(len(keys)), []
    for t in range(_rounds(environment)):
        costs = environment.costs(state, t, rng_for(keys, t))
        met.append(costs.copy())
        state = environment.react(state, picker(len(keys), t), costs)
    return np.stack(met)


def _rounds(environment: Environment) -> int:
    return min(environment.rounds, MOST_ROUNDS)


def _keys() -> KeyArray:
    return replicate_keys(3, REPLICATES, stream=ENVIRONMENT_STREAM)


def _first_arms(budget: int) -> Picker:
    return lambda replicates, _: np.tile(np.arange(budget), (replicates, 1))


def _last_arms(environment: Environment, budget: int) -> Picker:
    last = np.arange(environment.n_arms - budget, environment.n_arms)
    return lambda replicates, _: np.tile(last, (replicates, 1))
