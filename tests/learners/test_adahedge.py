"""AdaHedge: its rule in NumPy, the conformance suite, and its bound."""

import numpy as np

from pickbest.core import Seen, replicate_keys, rng_for
from pickbest.learners import AdaHedge
from pickbest.testing.learners import check_learner


def test_adahedge_is_a_learner() -> None:
    check_learner(AdaHedge(n_arms=6))


def test_gap_is_that_of_the_paper() -> None:
    costs = np.random.default_rng(0).random((50, 4))
    costs[0] = [0.3, 0.1, 0.3, 0.1]
    learner = AdaHedge(4)
    state = learner.start(1)
    totals, gap = np.zeros(4), 0.0
    for t, row in enumerate(costs):
        choice = learner.pick(state, rng_for(replicate_keys(0, 1), t))
        state = learner.learn(state, choice, Seen.of(row[None]))
        # de Rooij et al. (2014), section 2: with no gap yet, follow the leaders.
        if gap == 0.0:
            leads = totals == totals.min()
            law = leads / leads.sum()
            mix = row[leads].min()
        else:
            rate = np.log(4) / gap
            law = np.exp(-rate * (totals - totals.min()))
            law /= law.sum()
            mix = -np.log(law @ np.exp(-rate * row)) / rate
        gap += max(law @ row - mix, 0.0)
        totals += row
        np.testing.assert_allclose(state.gap[0], gap, rtol=1e-6)
    np.testing.assert_allclose(state.gains[0], -totals)


def test_regret_is_at_most_twice_the_gap_and_more() -> None:
    rng = np.random.default_rng(1)
    rounds, n_arms = 2_000, 10
    costs = (rng.random((rounds, n_arms)) < 0.5).astype(float)
    costs[::2, :5] = 1.0 - costs[1::2, :5]
    learner, state, keys = AdaHedge(n_arms), AdaHedge(n_arms).start(40), replicate_keys(2, 40)
    paid = np.zeros(40)
    for t in range(rounds):
        choice = learner.pick(state, rng_for(keys, t))
        paid += costs[t, choice.arms[:, 0]]
        state = learner.learn(state, choice, Seen.of(np.tile(costs[t], (40, 1))))
    regret = paid.mean() - costs.sum(axis=0).min()
    assert regret <= 2 * np.sqrt(rounds / 4 * np.log(n_arms)) + 4 / 3 * np.log(n_arms) + 2


def test_tiny_costs_are_learned_as_fast_as_large_ones() -> None:
    costs = np.random.default_rng(3).random((300, 5)) * [0.5, 1, 1, 1, 1]
    learner, keys = AdaHedge(5), replicate_keys(4, 50)
    shares = []
    for scale in (1.0, 1e-3):
        state = learner.start(50)
        best = 0
        for t in range(300):
            choice = learner.pick(state, rng_for(keys, t))
            best += (choice.arms == 0).mean()
            state = learner.learn(state, choice, Seen.of(np.tile(scale * costs[t], (50, 1))))
        shares.append(best)
    assert abs(shares[0] - shares[1]) < 3.0
