"""A test for worlds that punish use: do arms get worse the more they were used lately?

Nothing of the kind happens where costs do not react to the player. An adversary that chases the
player's favourite arms shows as a correlation between an arm's recent use and how far its reward
stays behind its mean.

Of one replicate: wear is (HEAD,), the correlation's sum and squares, the sum and number of the
uses that it is centred by; use is (n_arms,), the recent use of each arm.
"""

from __future__ import annotations

import math

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.compiled import kernel

SUM, SQUARES, USES, NUMBER, HEAD = 0, 1, 2, 3, 4
WINDOW = 0.99
USE = 0.9
# Standard deviations; with one arm a round there is less to see, and less harm in a false alarm.
CLEARLY, CLEARLY_ALONE = 3.0, 2.5
FEWEST_PLAYS = 2.0


@kernel
def wears_off(wear: FloatArray, budget: int) -> bool:
    """Whether use clearly makes arms worse."""
    clearly = CLEARLY_ALONE if budget == 1 else CLEARLY
    return bool(wear[SUM] < -clearly * math.sqrt(wear[SQUARES]))


@kernel
def watch_wear(
    wear: FloatArray, use: FloatArray, arms: FloatArray, chosen: IntArray, seen: FloatArray
) -> None:
    """Fold a round in. arms: (2, n_arms) sums of rewards and plays before the round."""
    for k in range(HEAD):
        wear[k] *= WINDOW
    product = 0.0
    for j in range(chosen.shape[0]):
        arm = chosen[j]
        if arms[1, arm] >= FEWEST_PLAYS:
            usual = wear[USES] / wear[NUMBER] if wear[NUMBER] > 0.0 else 0.0
            product += (use[arm] - usual) * (1.0 - seen[j] - arms[0, arm] / arms[1, arm])
            wear[USES] += use[arm]
            wear[NUMBER] += 1.0
    wear[SUM] += product
    wear[SQUARES] += product * product
    for a in range(arms.shape[1]):
        use[a] *= USE
    for j in range(chosen.shape[0]):
        use[chosen[j]] += 1.0
