"""How many calls, and which learner makes them: two draws or more, or FPML as in Proposition 8.

`product`, the default for B ≥ 2, draws B constraints from Hedge's law p ∝ exp(-η · costs), where
costs are slacks scaled to [0, 1]. All answers have an expected smallest slack of at least 0: the
smallest of B draws costs at least 1/2 in expectation. At the rate η_B the mix loss is no less
(docs/two-picks.md), so after T calls the smallest mean slack is at least -2 rho ln n / (η_B T).

The lemma behind it speaks of any expectation; here it is 1/2, and η may be larger. The reduction to
two costs x < y, y with probability q, leaves those with mix loss 1/2, and at a fixed q the largest
y - x is the worst case, so x = 0 or y = 1: x + (y - x) q^B ≤ 1/2 along these two lines holds up to

    η = 2 ln(1 / (2^(1/B) - 1)),        1.76 at B = 2, where η_B is 1.26,

which x = 0, y = 1 needs; along the lines it was checked numerically (tests/feasibility). So 5/7 of
the calls are enough. A quarter is spent on whatever ends most problems: half of the law is Hedge's
at four times η_B, half goes to the constraints that hold the best mix of the answers back
(`calls.BestMix`). The rest is spent on this rate; what is left covers oracles that are not exact.
Any mix that is better than the mean keeps the promise, too.

FPML is tuned as in the proof of Proposition 8, or eagerly at first. The proof's epsilon is safe and
slow. Its bound has room: all answers have an expected smallest slack V_t ≥ 0, that is scaled costs
of at least 1/2, so the first form of Theorem 2 gives

    smallest mean slack ≥ - rho e^B - 2 rho (1 + ln n) / (e T)      for FPML's epsilon e < 1,

half of the first term of the usual bound. At the proof's e it is -3/4 of the accuracy after
Proposition 8's T calls. At the best e, (2 (1 + ln n) / (B T))^(1/(B+1)), the accuracy is
reached after (2/B) ((B+1)/4)^((B+1)/B) T ≤ 2/3 T calls, and 4/5 T calls reach 7/8 of it.

So the eager schedule spends a fifth of the calls on a far larger, decaying epsilon, which
ends most problems early, and the rest on that best e: it keeps Proposition 8's promise, with
an eighth of the accuracy left for oracles that are not exact.
"""

import math
from dataclasses import dataclass

from pickbest import theory
from pickbest.core import Learner, PickbestError, unknown_name
from pickbest.learners import FPML, Hedge

TUNINGS = ("product", "eager", "proposition_8")

# Share of the calls that the eager phase may use, and share of the accuracy then left over.
EAGER_SHARE = 5
SPARE_ACCURACY = 1.0 / 8.0

# The same for the product law; and its eager phase's rate in multiples of η_B: 8 is often better
# still, 16 often much worse (table in docs/linear-programs.md).
PRODUCT_EAGER_SHARE = 4
PRODUCT_SPARE_ACCURACY = 1.0 / 32.0
PRODUCT_EAGERNESS = 4.0
# Share of its law that goes to what holds the best mix back.
PRODUCT_PRESSED = 0.5

# The eager phase's epsilon, in multiples of the anytime one, ((1 + ln n) / t)^(1/(B+1)). Eight is
# a compromise (table in docs/linear-programs.md): more solves feasible problems sooner, less
# finds certificates and equilibria sooner; the limit is following the leader.
EAGERNESS = 8.0


@dataclass(frozen=True)
class Phase:
    """A learner that starts anew and makes at most `calls` calls.

    pressed: x is the best mix of the answers, and this share of the law goes to the constraints
        that hold it back; None: x is the mean of the answers.
    """

    learner: Learner
    calls: int
    pressed: float | None = None


def checked_tuning(tuning: str | None, budget: int) -> str:
    """The tuning's name; None: product for B ≥ 2, eager for B = 1."""
    if tuning is None:
        tuning = "product" if budget > 1 else "eager"
    elif tuning not in TUNINGS:
        raise unknown_name("tuning", tuning, TUNINGS)
    elif tuning == "product" and budget < 2:
        raise PickbestError("tuning product needs a budget of 2 or more, got 1: take eager")
    return tuning


def spare(tuning: str, epsilon: float) -> float:
    """What an oracle may lack of an expected smallest slack of 0."""
    return (PRODUCT_SPARE_ACCURACY if tuning == "product" else SPARE_ACCURACY) * epsilon


def calls_needed(n_constraints: int, budget: int, width: float, epsilon: float, tuning: str) -> int:
    """Calls after which the mean answer is within epsilon."""
    size = {"n_constraints": n_constraints, "budget": budget}
    if tuning == "product":
        return theory.program_calls(**size, width=width, epsilon=epsilon)
    return theory.oracle_calls(**size, width=width, accuracy=epsilon)


def sign_rate(budget: int) -> float:
    """The largest η at which B draws whose smallest costs ≥ 1/2 have a mix loss ≥ 1/2.

    >>> round(sign_rate(2), 3)
    1.763
    """
    return -2.0 * math.log(2.0 ** (1.0 / budget) - 1.0)


def schedule(n_constraints: int, budget: int, calls: int, tuning: str) -> list[Phase]:
    """The phases for a number of calls.

    >>> [(phase.calls, round(phase.learner.epsilon, 3)) for phase in schedule(10, 1, 500, "eager")]
    [(100, 14.538), (400, 0.129)]
    """
    if tuning == "product":
        rate = PRODUCT_EAGERNESS * theory.constant_rate(budget=budget)
        first = calls // PRODUCT_EAGER_SHARE
        return [
            Phase(Hedge(n_constraints, rate, budget), first, PRODUCT_PRESSED),
            Phase(Hedge(n_constraints, sign_rate(budget), budget), calls - first, 0.0),
        ]
    if tuning == "proposition_8":
        epsilon = theory.fpml_epsilon(n_arms=n_constraints, budget=budget, rounds=calls)
        return [Phase(FPML(n_constraints, budget, epsilon), calls)]
    eager = eager_phase(n_constraints, budget, calls // EAGER_SHARE)
    rest = calls - eager.calls
    epsilon = theory.fpml_epsilon(n_arms=n_constraints, budget=budget, rounds=rest)
    best = epsilon * (2.0 / budget) ** (1.0 / (budget + 1))
    return [eager, Phase(FPML(n_constraints, budget, best), rest)]


def eager_phase(n_constraints: int, budget: int, calls: int) -> Phase:
    """FPML with a large epsilon that falls as the calls go on."""
    first, decay = theory.fpml_anytime(n_arms=n_constraints, budget=budget)
    return Phase(FPML(n_constraints, budget, EAGERNESS * first, decay), calls)
