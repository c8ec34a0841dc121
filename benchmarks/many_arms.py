"""Many arms: FPML's rounds in microseconds, side by side with NumPy on one core.

Semi-bandit rounds are measured in a compiled loop, from a fresh start (all arms equal) and
after costs have spread the arms; the slower of the two counts. Times are the least of several.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pickbest.core import Learner, replicate_keys, rng_for
from pickbest.kernels.compiled import compiled
from pickbest.kernels.many_arms import draw_arms
from pickbest.kernels.random import STEP, uniform_at
from pickbest.kernels.rules import Pick, Told
from pickbest.learners import FPMLManyArms, FPMLPartial
from pickbest.learners.fpml_many_arms import learn_row, new_work, pick_row
from pickbest.player import Player
from pickbest.report.palette import OKABE_ITO
from pickbest.report.plots import name_lines, new_figure
from timing import Row, best_of, limit_row, ratio_row

EPSILON = 0.1
MILLION = 1_000_000
SIZES = (9, 30, 100, 300, 1_000, 10_000, 100_000, MILLION)


@compiled
def play(law, state, budget, rounds, counter, weigh):  # type: ignore[no-untyped-def]
    """Semi-bandit rounds; without weights, every arm learns as if its weight were n / budget."""
    arms, weights, seen = np.empty(budget, np.int64), np.empty(budget), np.empty(budget)
    weights[:] = state.costs.shape[1] / budget
    nobody, work = np.empty(0, np.bool_), new_work(law, state, budget)
    for _ in range(rounds):
        counter += STEP
        key = np.uint64(uniform_at(counter) * 2.0**63)
        if weigh:
            pick_row(law, state, 0, work, Pick(nobody, key, arms, weights))
        else:
            draw_arms(state.groups, 0, key, arms, work)
        for j in range(budget):
            counter += STEP
            seen[j] = uniform_at(counter)
        learn_row(law, state, 0, work, Told(arms, weights, seen, 1.0))


def round_seconds(n_arms: int, budget: int, weigh: bool, spread: float, rounds: int) -> float:
    """One round of the learner in groups, from arms whose costs are `spread` bits apart."""
    # About a tenth of a bit a round, as a learner tuned for so many arms would move.
    rate = 0.2 * budget / n_arms
    learner = FPMLManyArms(n_arms, budget, epsilon=rate * math.log(2.0))
    costs = np.random.default_rng(n_arms).exponential(size=(1, n_arms)) * spread / rate
    state = learner.refreshed(learner.start(1)._replace(costs=costs))
    play(learner.law, state, budget, 2, np.uint64(1), weigh)
    seeds = iter(range(2, 100))
    return (
        best_of(lambda: play(learner.law, state, budget, rounds, np.uint64(next(seeds)), weigh))
        / rounds
    )


def slowest_round(n_arms: int, budget: int, weigh: bool, rounds: int) -> float:
    return max(round_seconds(n_arms, budget, weigh, spread, rounds) for spread in (0.0, 3.0))


def numpy_round_seconds(n_arms: int, budget: int) -> float:
    """The same round with NumPy: perturb all arms, partition, update the picked ones."""
    rng = np.random.default_rng(0)
    costs = rng.exponential(size=n_arms)

    def work() -> None:
        noisy = costs - rng.standard_exponential(n_arms) / EPSILON
        arms = np.argpartition(noisy, budget - 1)[:budget]
        costs[arms] += rng.random(budget)

    return best_of(work)


def resampled_seconds(n_arms: int, budget: int, most: int) -> float:
    """NumPy's pick with geometric resampling of at most `most` redraws."""
    rng = np.random.default_rng(0)
    costs = rng.exponential(size=n_arms)

    def pick() -> np.ndarray[Any, Any]:
        noisy = costs - rng.standard_exponential(n_arms) / EPSILON
        return np.argpartition(noisy, budget - 1)[:budget]

    def work() -> None:
        waiting = set(pick().tolist())
        for _ in range(most - 1):
            waiting.difference_update(pick().tolist())
            if not waiting:
                break

    return best_of(work, 3)


def exact_seconds(n_arms: int, budget: int) -> float:
    """Our one-pass pick with exact weights, a replicate of fifty."""
    replicates = 50
    learner = FPMLPartial(n_arms, budget, EPSILON)
    state = learner.start(replicates)
    state.costs[:] = np.random.default_rng(0).exponential(size=state.costs.shape)
    rng = rng_for(replicate_keys(0, replicates), 0)
    learner.pick(state, rng)
    return best_of(lambda: learner.pick(state, rng)) / replicates


def rows() -> list[Row]:
    """Ratios against NumPy, against reading all arms once, and against few arms."""
    table = []
    passing = best_of(np.ones(MILLION).sum, 20)
    for budget, target, rounds in ((1, 500.0, 20_000), (10, 200.0, 4_000), (100, 30.0, 500)):
        ours = slowest_round(MILLION, budget, False, rounds)
        name = f"semi-bandit round, N=1e6, B={budget}, against NumPy"
        table.append(ratio_row(name, ours, numpy_round_seconds(MILLION, budget), target))
        name = f"the same, B={budget}, against reading N doubles"
        table.append(ratio_row(name, ours, passing, 1.0))
    for budget, limit, rounds in ((1, 20e-6, 4_000), (10, 50e-6, 1_000)):
        ours = slowest_round(MILLION, budget, True, rounds)
        table.append(limit_row(f"round with exact weights, N=1e6, B={budget}", ours, limit))
    for n_arms, ours in flatness().items():
        name = f"round with exact weights, N={n_arms:.0e}, B=1, against N=1e3"
        table.append(ratio_row(name, ours, flatness()[1_000], 0.2))
    name = "exact weights, N=1000, B=10, against NumPy's resampling"
    resampled = resampled_seconds(1_000, 10, 1_000)
    table.append(ratio_row(name, exact_seconds(1_000, 10), resampled, 100.0))
    return table


@cache
def flatness() -> dict[int, float]:
    """Seconds of a round with exact weights, B = 1, for N from 10^3 to 10^6."""
    sizes = (1_000, 10_000, 100_000, MILLION)
    return {n_arms: slowest_round(n_arms, 1, True, 4_000) for n_arms in sizes}


def curve(kind: type[Learner], sizes: Sequence[int]) -> dict[int, float]:
    """Seconds of a round (ask, exact weights, tell), as a player has it, by number of arms."""
    times = {}
    for n_arms in sizes:
        player = Player(kind(n_arms, 1, epsilon=0.01), seed=0)

        def play(player: Player = player) -> None:
            for _ in range(50):
                player.tell(player.ask(), [0.5])

        times[n_arms] = best_of(play, 5) / 50
    return times


def plot_curve(path: Path) -> None:
    """Time of a round (ask, exact weights, tell) against the number of arms, both ways."""
    figure, axes = new_figure()
    for name, times, colour in (
        ("one pass", curve(FPMLPartial, SIZES[:7]), OKABE_ITO[1]),
        ("groups", curve(FPMLManyArms, SIZES[1:]), OKABE_ITO[0]),
    ):
        arms, micros = list(times), [1e6 * value for value in times.values()]
        axes.loglog(arms, micros, color=colour, marker="o", markersize=3, label=name)
    axes.set_xlabel("arms")
    axes.set_ylabel("µs per round (budget 1, exact weights)")
    name_lines(axes)
    figure.savefig(path)
