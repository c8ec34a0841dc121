"""How far problems lie apart whose features are missing."""

from __future__ import annotations

import numpy as np

from pickbest.core.features import MISSING
from pickbest.learners.auto.features import FAR, distances, ranks_among, remember, start_problems


def test_what_is_missing_is_near_what_is_missing_and_far_from_every_number() -> None:
    problems = start_problems(1, 2, 1)
    for value in (1.0, MISSING, 2.0):
        features = np.array([value])
        own = ranks_among(problems, 0, features)
        remember(problems, 0, np.array([0]), np.array([0.5]), features, own)
    away = distances(problems, 0, ranks_among(problems, 0, np.array([MISSING])))
    assert away[1] < 0.1 * FAR
    assert away[[0, 2]].tolist() == [FAR, FAR]
