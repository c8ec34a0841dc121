"""Small games solved exactly: minimax regret, the worst case of Hedge, a round of hedge-partial.

Costs are 0 or 1 and chosen by an adversary that sees everything but the draw. What matters of the
past are the cumulative costs, in any order: a dynamic program over these, with a linear program for
the player's best mixture of B-subsets in each state.
"""

import math
from collections.abc import Iterator
from functools import cache
from itertools import combinations, permutations, product
from typing import Any, cast

import numpy as np

from pickbest import theory
from pickbest.catalog import make_learner
from pickbest.core import FloatArray, Seen, check_budget, check_count, replicate_keys, rng_for
from pickbest.core.errors import load_extra
from pickbest.core.states import arrays_of
from pickbest.learners.hedge_partial import (
    HedgePartial,
    HedgePartialState,
    fill_shares,
    fill_weights,
    new_work,
)

State = tuple[int, ...]
# Picks from which the outcomes of a round are gathered.
DRAWS = 60_000


def minimax_regret(n_arms: int, budget: int, rounds: int) -> float:
    """The least worst-case expected regret of any learner against the best arm.

    >>> round(minimax_regret(3, 2, rounds=4), 3)
    0.333
    """
    check_budget(budget, n_arms)
    check_count("rounds", rounds)
    subsets = list(combinations(range(n_arms), budget))
    vectors = _cost_vectors(n_arms)
    paid = np.array([[min(c[a] for a in subset) for subset in subsets] for c in vectors], float)

    @cache
    def value(left: int, state: State) -> float:
        if left == 0:
            return -float(min(state))
        after = np.array([value(left - 1, _next(state, c)) for c in vectors])
        return _game_value(paid, after)

    return value(rounds, (0,) * n_arms)


def spared_rule_loss(n_arms: int, budget: int, rounds: int) -> float:
    """How far the rule of the spared arm is from minimax, at worst, in a state that can be reached.

    The rule picks arm a with probability 1 + U(s + 1 - e_a) - U(s), at least 0, where U(s) is the
    regret to come against the spared arm (`theory.lower_bound_spared`), as long as that is above
    -min s. These add up to B. The sets are drawn in the best way that has these probabilities.

    >>> round(spared_rule_loss(3, 2, 3), 9)
    0.0
    """
    check_budget(budget, n_arms)
    subsets = list(combinations(range(n_arms), budget))
    vectors = _cost_vectors(n_arms)
    paid = np.array([[min(c[a] for a in subset) for subset in subsets] for c in vectors], float)
    holds = np.array([[float(a in subset) for subset in subsets] for a in range(n_arms)])
    spared = [tuple(int(b != a) for b in range(n_arms)) for a in range(n_arms)]

    @cache
    def value(left: int, state: State) -> float:
        means = np.cumsum([value(left - 1, _next(state, c)) for c in spared] if left else [])
        gains = [(m - budget + total) / m for m, total in enumerate(means, start=1) if m > budget]
        return float(max([-min(state), *gains]))

    states, worst = {(0,) * n_arms}, 0.0
    for left in range(check_count("rounds", rounds), 0, -1):
        for state in states:
            now = value(left, state)
            if now > 1e-12 - min(state):
                rises = [1.0 + value(left - 1, _next(state, c)) - now for c in spared]
                after = np.array([value(left - 1, _next(state, c)) for c in vectors])
                found = _game_value(paid, after, holds, np.maximum(rises, 0.0))
                worst = max(worst, found - now)
        states = {_next(state, c) for state in states for c in vectors}
    return float(worst)


def hedge_worst_case(n_arms: int, budget: int, rounds: int, distinct: bool = False) -> float:
    """The worst expected regret of B draws from Hedge at the constant rate.

    distinct: drawn without replacement, as the learner does; else independently, as in the proof.

    >>> round(hedge_worst_case(3, 2, 8), 3), round(hedge_worst_case(3, 2, 8, distinct=True), 3)
    (0.598, 0.425)
    """
    check_budget(budget, n_arms)
    rate = theory.constant_rate(budget=budget)
    vectors = _cost_vectors(n_arms)

    @cache
    def value(left: int, state: State) -> float:
        if left == 0:
            return -float(min(state))
        law = np.exp(-rate * (np.array(state) - min(state)))
        law /= law.sum()
        return max(_all_bad(law, c, budget, distinct) + value(left - 1, _next(state, c))
                   for c in vectors)  # fmt: skip

    return float(value(check_count("rounds", rounds), (0,) * n_arms))


def partial_worst_case(n_arms: int, budget: int, rounds: int) -> float:
    """The worst expected regret of hedge-partial against an arm, for two or three picks.

    Over all costs of 0 and 1, by an adversary that may choose them by what was drawn before, and so
    over all sequences. (What a further draw saves where J is also a K is left out.)

    >>> round(partial_worst_case(3, 2, 2), 3)
    0.614
    """
    learner = make_learner("hedge-partial", n_arms, check_budget(budget, n_arms))
    law = cast(HedgePartial, learner).law
    vectors = [c for c in _cost_vectors(n_arms) if max(c) == 1]

    @cache
    def value(left: int, known: tuple[float, ...]) -> float:
        if left == 0:
            return 0.0
        shares, estimates = _shares(law, np.array(known)), np.array(known)
        outcomes = list(_outcomes(shares, budget, law.explore))
        worst = 0.0
        for c in vectors:
            total = 0.0
            for chance, first, seen, weights in outcomes:
                after = estimates.copy()
                for arm, weight in zip(seen, weights, strict=True):
                    after[arm] += weight * (c[arm] - c[first])
                paid = min(c[first], *(c[arm] for arm in seen))
                total += chance * (paid - c[0] + value(left - 1, _canonical(after)))
            worst = max(worst, total)
        return worst

    return float(value(check_count("rounds", rounds), (0.0,) * n_arms))


def _canonical(known: FloatArray) -> tuple[float, ...]:
    """Only differences count, and all arms but the first are alike."""
    apart = (known - known.min()).round(9)
    return (float(apart[0]), *sorted(apart[1:].tolist()))


def _outcomes(
    shares: FloatArray, budget: int, explore: float
) -> Iterator[tuple[float, int, tuple[int, ...], tuple[float, ...]]]:
    """(probability, I, arms that are looked at, their weights) of a round, B = 2 or 3."""
    n_arms = len(shares)
    for first in range(n_arms):
        others = [arm for arm in range(n_arms) if arm != first]
        share = {arm: shares[arm] / shares[others].sum() for arm in others}
        if budget == 2:
            for arm in others:
                chance = (1.0 - explore) * share[arm] + explore / len(others)
                yield shares[first] * chance, first, (arm,), (1.0 / chance,)
            continue
        looked = {a: 1.0 - (1.0 - share[a]) * (1.0 - 1.0 / len(others)) for a in others}
        for second, third in product(others, others):
            seen = tuple({second, third})
            chance = shares[first] * share[second] / len(others)
            yield chance, first, seen, tuple(1.0 / looked[arm] for arm in seen)


def _all_bad(law: FloatArray, costs: State, budget: int, distinct: bool) -> float:
    """The probability that all draws cost 1."""
    bad = law[np.array(costs) == 1]
    if not distinct:
        return float(bad.sum() ** budget)
    total = 0.0
    for drawn in permutations(range(len(bad)), budget):
        chance, left = 1.0, 1.0
        for arm in drawn:
            chance *= bad[arm] / left
            left -= bad[arm]
        total += chance
    return total


def _cost_vectors(n_arms: int) -> list[State]:
    """All vectors of 0 and 1 in which an arm costs 0: a cost that all pay changes no regret."""
    return [c for c in product((0, 1), repeat=n_arms) if min(c) == 0]


def _next(state: State, costs: State) -> State:
    """Cumulative costs after a round, in ascending order: all arms are alike."""
    return tuple(sorted(a + b for a, b in zip(state, costs, strict=True)))


def _game_value(paid: FloatArray, after: FloatArray, *fixed: FloatArray) -> float:
    """min over mixtures x of max over cost vectors of paid · x + after.

    fixed: a matrix and what it must give, times x.
    """
    linprog = load_extra("scipy.optimize", "lp", "exact small games").linprog
    n_vectors, n_subsets = paid.shape
    objective = np.append(np.zeros(n_subsets), 1.0)
    constraints = np.hstack([paid, -np.ones((n_vectors, 1))])
    matrix, sums = fixed or (np.ones((1, n_subsets)), np.ones(1))
    total = np.hstack([matrix, np.zeros((len(matrix), 1))])
    bounds = [(0.0, None)] * n_subsets + [(None, None)]
    solved = linprog(objective, constraints, -after, total, sums, bounds, method="highs")
    return float(solved.fun)


def one_round_surplus(learner: Any, known: FloatArray, costs: FloatArray) -> float:
    """What a round adds to hedge-partial's potential beyond what it costs: at least 0, by theorem.

    potential(L) = min over p of ⟨p, L⟩ + Ψ(p) / z. If E[min(c_I, c_J)] - E[c_I] is at most the
    expected growth of the potential in every round, regret is at most (Ψ(e_a) - Ψ(1/N)) / z. The
    expectation is over all outcomes of a round, for two or three picks: law and estimates are those
    of the learner (what it learns from each outcome), Ψ and z those of the theorem.
    """
    played = learner
    while hasattr(played, "inner"):
        played = played.inner
    if not isinstance(played, HedgePartial):
        return -math.inf
    n_arms, budget = played.n_arms, played.budget
    honest = make_learner("hedge-partial", n_arms, budget)
    shares = _shares(played.law, known)
    state = learner.start(DRAWS)
    estimates_of(state)[:] = known
    choice = learner.pick(state, rng_for(replicate_keys(1, DRAWS), 0))
    state = learner.learn(state, choice, Seen.of(costs[choice.arms]))
    learned = estimates_of(state) - known
    # One row for each outcome: I, then the arms that were looked at, J last unless it is a K, too.
    seen = choice.arms.copy()
    if budget > 2:
        seen[choice.weights[:, 2] == 0.0, 2] = seen[choice.weights[:, 2] == 0.0, 1]
    chances, growth = [], []
    for row in np.unique(seen, axis=0, return_index=True)[1]:
        first, second = seen[row, 0], seen[row, -1]
        share = shares[second] / (shares.sum() - shares[first])
        chance = (1.0 - played.explore) * share + played.explore / (n_arms - 1)
        chances.append(shares[first] * (chance if budget == 2 else share / (n_arms - 1)))
        paid = min(costs[first], costs[second])
        growth.append(_potential(honest, known + learned[row]) - paid)
    # Outcomes that were never drawn are so rare that they do not count.
    expected = float(np.average(growth, weights=chances))
    return expected + float(shares @ costs) - _potential(honest, known)


def estimates_of(state: Any) -> FloatArray:
    """The estimates in a state, also where another learner's state is around it."""
    (costs,) = (array for path, array in arrays_of(state).items() if path.endswith("costs"))
    return costs


def _shares(law: Any, known: FloatArray) -> FloatArray:
    """Hedge-partial's law of these estimates."""
    work = new_work(law, HedgePartialState(known[None]), 2)
    largest = fill_weights(law, known, 0, work)
    total = fill_shares(law, work.weights[0], largest, work.shares)
    return work.shares[: len(known)] / total


def _potential(learner: Any, known: FloatArray) -> float:
    shares = _shares(learner.law, known)
    looks = theory.looks(n_arms=learner.n_arms, budget=learner.budget, explore=learner.explore)
    mu, bent = looks.uniform, looks.own / learner.stretch
    entropy = shares * np.log(shares) - (shares + mu / bent) * np.log(mu + bent * shares)
    return float(shares @ known + entropy.sum() / (mu * learner.rate))
