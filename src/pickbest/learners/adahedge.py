"""AdaHedge as a learner: Hedge whose rate needs no tuning, and fits slots of small gains.

What later slots of OG can gain is far below 1, so a rate for costs that may fill [0, 1] learns
them slowly. AdaHedge's rate follows the costs that occur.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pickbest.core import (
    BoolArray,
    Choice,
    Draws,
    Feedback,
    FloatArray,
    State,
    check_count,
)
from pickbest.kernels.adahedge import learn_adaptive, pick_adaptive


@dataclass(frozen=True)
class AdaHedge:
    """Hedge with the rate ln N / (sum of mixability gaps); one arm a round, full feedback."""

    n_arms: int
    budget = 1
    feedback = Feedback.FULL
    unbiased = False

    def __post_init__(self) -> None:
        check_count("n_arms", self.n_arms)

    def start(self, replicates: int) -> State:
        """gains: minus cumulative costs; gap: sum of the mixability gaps."""
        return {"gains": np.zeros((replicates, self.n_arms)), "gap": np.zeros(replicates)}

    def pick(self, state: State, rng: Draws) -> Choice:
        return self.pick_free(state, rng, np.empty((len(state["gap"]), 0), np.bool_))

    def pick_free(self, state: State, rng: Draws, taken: BoolArray) -> Choice:
        arms = np.empty((len(rng.keys), 1), np.int64)
        pick_adaptive(state["gains"], state["gap"], taken, rng.keys, arms)
        return Choice(arms)

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        learn_adaptive(state["gains"], state["gap"], seen)
        return state


def og_adahedge_regret_bound(*, n_arms: int, budget: int, rounds: int) -> float:
    """OG with AdaHedge in its slots, against (1 - 1/e) OPT(B); full feedback.

    2 sqrt(T B ln N) + B (4/3 ln N + 2). Proof: a slot's regret is at most 2 sqrt(V ln N) +
    4/3 ln N + 2 (de Rooij et al. 2014, Theorem 6), where V, the sum of the variances of its
    gains, is at most its own expected gain, since gains are in [0, 1]; and the gains of all
    slots in a round add up to at most 1.

    >>> round(og_adahedge_regret_bound(n_arms=9, budget=4, rounds=368), 2)
    133.46
    """
    check_count("budget", budget)
    log = math.log(check_count("n_arms", n_arms))
    root = 2.0 * math.sqrt(check_count("rounds", rounds) * budget * log)
    return root + budget * (4.0 / 3.0 * log + 2.0)
