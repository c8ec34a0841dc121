"""The regression on problems like this one, against the kernel ridge regression it stands for."""

import numpy as np
import pytest

from pickbest.core import Choice, Seen
from pickbest.core.features import encoded
from pickbest.learners import Auto
from pickbest.learners.auto.features import (
    RIDGE,
    WIDTH,
    arm_mean,
    distances,
    predict,
    ranks_among,
    usual_reward,
)


@pytest.mark.parametrize("words", ["a", "ab", "abc"])
def test_problems_that_are_alike_share_what_was_seen(words):
    """Also after a streak: one after the other, they would follow the last results."""
    learner, random = Auto(2, 1), np.random.default_rng(1)
    state, seen = learner.start(1, 1), []
    for t in range(120):
        row, arm = encoded({"kind": words[t % len(words)]}, ("kind",)), int(random.integers(2))
        reward = 0.0 if t >= 116 else float(random.random() < 0.7 - 0.2 * (t % len(words)))
        choice = Choice(np.array([[arm]]), np.ones((1, 1)))
        state = learner.learn(state, choice, Seen.of(np.array([[1.0 - reward]])), row[None])
        seen.append((row[0], arm, reward))
    problems, pairs = state.problems, state.sets.pairs
    kinds, arms, rewards = map(np.array, zip(*seen, strict=True))
    away = distances(problems, 0, ranks_among(problems, 0, row))
    found, _ = predict(problems, pairs, 0, away)
    rate = WIDTH / max(problems.apart[0] / problems.compared[0], 1e-12)
    for arm in (0, 1):
        ran = arms == arm
        mean = arm_mean(pairs, 0, 0, arm, usual_reward(pairs, 0, 0))
        like = np.exp(-rate * 0.25 * (kinds[:, None] != kinds[ran]))
        pulls = np.linalg.solve(like[ran] + RIDGE * np.eye(ran.sum()), rewards[ran] - mean)
        assert found[arm] == pytest.approx(mean + like[-1] @ pulls, abs=0.02)
