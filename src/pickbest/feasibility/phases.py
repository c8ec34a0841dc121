"""How many calls, and which learner makes them: one draw, or two and more.

Costs are slacks scaled from [-rho, rho] to [0, 1], n is the number of constraints.

**One draw.** AdaHedge, whose regret is at most sqrt(T ln n) + 4/3 ln n + 2 (de Rooij et al. 2014,
Theorem 8). After Proposition 8's T = (4 rho / epsilon)^2 (1 + ln n) calls that is at most
T epsilon / (2 rho) where rho ≥ epsilon / 2, and elsewhere every x in P will do. So T calls are
always enough, as they are for FPML, and nothing has to be tuned.

**Two draws or more.** B constraints are drawn from Hedge's law p ∝ exp(-η · costs). All answers
have an expected smallest slack of at least 0: the smallest of B draws costs at least 1/2 in
expectation. At the rate η_B the mix loss is no less (docs/two-picks.md), so after T calls the
smallest mean slack is at least -2 rho ln n / (η_B T).

The lemma behind it speaks of any expectation; here it is 1/2, and η may be larger. The reduction to
two costs x < y, y with probability q, leaves those with mix loss 1/2, and at a fixed q the largest
y - x is the worst case, so x = 0 or y = 1: x + (y - x) q^B ≤ 1/2 along these two lines holds up to

    η = 2 ln(1 / (2^(1/B) - 1)),        1.76 at B = 2, where η_B is 1.26,

which x = 0, y = 1 needs; along the lines it was checked numerically (tests/feasibility). So 5/7 of
the calls are enough. A quarter is spent on what ends most problems, Hedge at four times η_B, and
the rest on this rate; what is left covers oracles that are not exact. x is the best mix of the
answers (`calls.BestMix`), which is no worse than their mean and keeps the promise, too.
"""

import math
from dataclasses import dataclass

from pickbest import theory
from pickbest.core import Learner
from pickbest.learners import Hedge
from pickbest.learners.adahedge import AdaHedge

# Two draws: the share of the calls that the eager phase may use, and its rate in multiples of η_B:
# 8 is often better still, 16 often much worse (studies/notes/linear-programs.md).
EAGER_SHARE = 4
EAGERNESS = 4.0
# What an oracle may lack of an expected smallest slack of 0, in units of epsilon.
SPARE_ACCURACY = 1.0 / 32.0


@dataclass(frozen=True)
class Phase:
    """A learner that starts anew and makes at most `calls` calls.

    mixes: whether x is the best mix of the answers; else it is their mean.
    """

    learner: Learner
    calls: int
    mixes: bool = False


def calls_needed(
    n_constraints: int, budget: int, width: float, epsilon: float, own: bool = True
) -> int:
    """Calls after which x is within epsilon; own: for our learners, else Proposition 8's."""
    size = {"n_constraints": n_constraints, "budget": budget}
    if own and budget > 1:
        return theory.program_calls(**size, width=width, epsilon=epsilon)
    return theory.oracle_calls(**size, width=width, accuracy=epsilon)


def sign_rate(budget: int) -> float:
    """The largest η at which B draws whose smallest costs ≥ 1/2 have a mix loss ≥ 1/2.

    >>> round(sign_rate(2), 3)
    1.763
    """
    return -2.0 * math.log(2.0 ** (1.0 / budget) - 1.0)


def schedule(n_constraints: int, budget: int, calls: int) -> list[Phase]:
    """The phases for a number of calls.

    >>> [(phase.calls, round(phase.learner.rate, 3)) for phase in schedule(10, 2, 500)]
    [(125, 5.026), (375, 1.763)]
    """
    if budget == 1:
        return [Phase(AdaHedge(n_constraints), calls)]
    rate = EAGERNESS * theory.constant_rate(budget=budget)
    first = calls // EAGER_SHARE
    return [
        Phase(Hedge(n_constraints, rate, budget), first, mixes=True),
        Phase(Hedge(n_constraints, sign_rate(budget), budget), calls - first, mixes=True),
    ]
