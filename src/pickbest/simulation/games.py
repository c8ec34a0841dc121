"""One learner's games against an environment, all replicates at once."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pickbest.core.arrays import FloatArray, check_costs
from pickbest.core.errors import PickbestError
from pickbest.core.randomness import ENVIRONMENT_STREAM, replicate_keys, rng_for
from pickbest.core.seat import Seat
from pickbest.core.types import Environment, Learner, keep_best, uses_features, visible
from pickbest.environments import Table, WithFeatures
from pickbest.simulation.result import Games

STRETCH_SECONDS = 0.2


@dataclass(frozen=True, eq=False)
class Dealt:
    """All costs of an oblivious environment, and what hindsight needs of them.

    table: (replicates or 1, rounds, n_arms); best_arm and totals as in Games.
    """

    table: FloatArray
    best_arm: FloatArray
    totals: FloatArray


def deal_all(environment: Environment, replicates: int, seed: int, first: int = 0) -> Dealt:
    """Deal every round at once."""
    copies = replicates if environment.varies else 1
    bare = environment.inner if isinstance(environment, WithFeatures) else environment
    if isinstance(bare, Table):
        table = bare.costs_table[None]
    else:
        keys = replicate_keys(seed, copies, first, ENVIRONMENT_STREAM)
        dealing = environment.start(copies)
        table = np.empty((copies, environment.rounds, environment.n_arms))
        for t in range(environment.rounds):
            costs = environment.costs(dealing, t, rng_for(keys, t))
            table[:, t] = check_costs(costs, (copies, environment.n_arms), f"round {t}: costs")
    cumulative = np.cumsum(table, axis=1)
    best_arm = np.broadcast_to(cumulative.min(axis=2), (replicates, environment.rounds))
    totals = np.broadcast_to(cumulative[:, -1], (replicates, environment.n_arms))
    return Dealt(table, best_arm, totals)


def play_dealt(
    learner: Learner,
    dealt: Dealt,
    replicates: int,
    seed: int,
    first_replicate: int = 0,
    report: Callable[[int], None] | None = None,
) -> Games:
    """One learner's games on costs that are known beforehand, compiled where it can be."""
    seat, rounds = Seat(learner, seed, replicates, first_replicate), dealt.table.shape[1]
    paid = np.empty((replicates, rounds))
    first, stretch = 0, max(1, 10_000 // replicates)
    while first < rounds:
        began = time.monotonic()
        part = dealt.table[:, first : first + stretch]
        played = slice(first, first + part.shape[1])
        paid[:, played] = seat.play_table(np.ascontiguousarray(part), first)
        first = played.stop
        # Compiled code does not hear Ctrl-C: it is left after at most about half a second.
        if time.monotonic() - began < STRETCH_SECONDS:
            stretch *= 2
        if report:
            report(first)
    return Games(paid, dealt.best_arm, dealt.totals, dealt.table)


def play(
    learner: Learner,
    environment: Environment,
    replicates: int,
    seed: int,
    first_replicate: int = 0,
    keep_table: bool = True,
    report: Callable[[int], None] | None = None,
) -> Games:
    """One learner's games: costs → pick → keep the best → hide → learn, round by round."""
    n_arms, rounds = environment.n_arms, environment.rounds
    seat = Seat(learner, seed, replicates, first_replicate)
    environment_keys = replicate_keys(seed, replicates, first_replicate, ENVIRONMENT_STREAM)
    dealing, known = environment.start(replicates), None
    if isinstance(environment, WithFeatures) and uses_features(learner):
        seat.expect(environment.names)
        known = environment.known
    paid = np.empty((replicates, rounds))
    best_arm = np.empty((replicates, rounds))
    totals = np.zeros((replicates, n_arms))
    copies = replicates if environment.varies else 1
    table = np.empty((copies, rounds, n_arms)) if keep_table else None
    for t in range(rounds):
        dealt = rng_for(environment_keys, t)
        costs = environment.costs(dealing, t, dealt)
        costs = check_costs(costs, (replicates, n_arms), name=f"round {t}: costs")
        features = None if known is None else known(t, dealt)
        choice = seat.pick(t, features)
        paid[:, t] = keep_best(choice.arms, costs)
        totals += costs
        best_arm[:, t] = totals.min(axis=1)
        if table is not None:
            table[:, t] = costs[:copies]
        seat.learn(choice, visible(learner, choice, costs), features)
        dealing = environment.react(dealing, choice.arms, costs)
        if report and (t % 64 == 63 or t == rounds - 1):
            report(t + 1)
    return Games(paid, best_arm, totals, table)


def deal(environment: Environment, seed: int = 0) -> FloatArray:
    """(rounds, n_arms) costs that the first replicate of a simulation with this seed meets."""
    if environment.adaptive:
        raise PickbestError(
            "the costs of an adaptive environment depend on the player: there is no table "
            "without one; use simulate"
        )
    table: FloatArray = deal_all(environment, 1, seed).table[0]
    return table
