"""The straightforward way: one replicate, one round at a time, plain NumPy.

Written from the paper's text, as a person would first write it: select by sorting perturbed
costs, resample in a Python loop, sample with rng.choice. It is what our speed is measured
against; tests/test_reference.py shows that both have the same law.
"""

from __future__ import annotations

import numpy as np


def fpml(table, budget, epsilon, rng):
    """FPML (Algorithm 1), full feedback: mean cost."""
    cumulative = np.zeros(table.shape[1])
    total = 0.0
    for costs in table:
        perturbed = cumulative - rng.exponential(1 / epsilon, len(costs))
        picked = np.argsort(perturbed)[:budget]
        total += costs[picked].min()
        cumulative += costs
    return total / len(table)


class PartialBox:
    """FPML-partial with geometric resampling, fed the costs of its own arms."""

    def __init__(self, n_arms, budget, epsilon, resamples, rng):
        self.budget, self.epsilon, self.resamples, self.rng = budget, epsilon, resamples, rng
        self.cumulative = np.zeros(n_arms)

    def draw(self):
        noise = self.rng.exponential(1 / self.epsilon, len(self.cumulative))
        return np.argsort(self.cumulative - noise)[: self.budget]

    def learn(self, picked, costs):
        counts = np.full(len(picked), self.resamples)
        waiting = np.ones(len(picked), bool)
        for k in range(1, self.resamples):
            again = np.isin(picked, self.draw()) & waiting
            counts[again] = k
            waiting &= ~again
            if not waiting.any():
                break
        self.cumulative[picked] += counts * costs


class Exp3Box:
    """Exp3 fed the gain of its own arm."""

    budget = 1

    def __init__(self, n_arms, gamma, rng):
        self.gamma, self.rng = gamma, rng
        self.scores = np.zeros(n_arms)

    def draw(self):
        weights = np.exp(self.scores - self.scores.max())
        n_arms = len(weights)
        self.law = (1 - self.gamma) * weights / weights.sum() + self.gamma / n_arms
        return np.array([self.rng.choice(n_arms, p=self.law)])

    def learn(self, picked, costs):
        arm = picked[0]
        self.scores[arm] += self.gamma / len(self.scores) * (1 - costs[0]) / self.law[arm]


def greedy(table, boxes):
    """OG or OG_hybrid with the given boxes, independent slots: mean cost."""
    total = 0.0
    for costs in table:
        picks = [box.draw() for box in boxes]
        best = 0.0
        for box, picked in zip(boxes, picks, strict=True):
            rewards = 1 - costs[picked]
            box.learn(picked, 1 - np.maximum(rewards - best, 0))
            best = max(best, rewards.max())
        total += 1 - best
    return total / len(table)


def hedge(table, rate, rng):
    """Hedge, full feedback: mean cost."""
    losses = np.zeros(table.shape[1])
    total = 0.0
    for costs in table:
        weights = np.exp(-rate * (losses - losses.min()))
        total += costs[rng.choice(len(costs), p=weights / weights.sum())]
        losses += costs
    return total / len(table)
