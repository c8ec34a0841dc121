"""How FPML's calls are tuned: as in the proof of Proposition 8, or eagerly at first.

The proof's epsilon is safe and slow. Its bound has room: all answers have an expected smallest
slack V_t ≥ 0, that is scaled costs of at least 1/2, so the first form of Theorem 2 gives

    smallest mean slack ≥ - rho e^B - 2 rho (1 + ln n) / (e T)      for FPML's epsilon e < 1,

half of the first term of the usual bound. At the proof's e it is -3/4 of the accuracy after
Proposition 8's T calls. At the best e, (2 (1 + ln n) / (B T))^(1/(B+1)), the accuracy is
reached after (2/B) ((B+1)/4)^((B+1)/B) T ≤ 2/3 T calls, and 4/5 T calls reach 7/8 of it.

So the eager schedule spends a fifth of the calls on a far larger, decaying epsilon, which
ends most problems early, and the rest on that best e: it keeps Proposition 8's promise, with
an eighth of the accuracy left for oracles that are not exact.
"""

from __future__ import annotations

from dataclasses import dataclass

from pickbest import theory
from pickbest.core import Learner, unknown_name
from pickbest.learners import FPML

TUNINGS = ("eager", "proposition_8")

# Share of the calls that the eager phase may use, and share of the accuracy then left over.
EAGER_SHARE = 5
SPARE_ACCURACY = 1.0 / 8.0

# The eager phase's epsilon, in multiples of the anytime one, ((1 + ln n) / t)^(1/(B+1)). Eight is
# a compromise (table in docs/linear-programs.md): more solves feasible problems sooner, less
# finds certificates and equilibria sooner; the limit is following the leader.
EAGERNESS = 8.0


@dataclass(frozen=True)
class Phase:
    """A learner that starts anew and makes at most `calls` calls."""

    learner: Learner
    calls: int


def schedule(n_constraints: int, budget: int, calls: int, tuning: str) -> list[Phase]:
    """FPML's phases for a number of calls.

    >>> [(phase.calls, round(phase.learner.epsilon, 3)) for phase in schedule(10, 1, 500, "eager")]
    [(100, 14.538), (400, 0.129)]
    """
    if tuning not in TUNINGS:
        raise unknown_name("tuning", tuning, TUNINGS)
    if tuning == "proposition_8":
        epsilon = theory.program_epsilon(n_constraints=n_constraints, budget=budget, calls=calls)
        return [Phase(FPML(n_constraints, budget, epsilon), calls)]
    eager = eager_phase(n_constraints, budget, calls // EAGER_SHARE)
    rest = calls - eager.calls
    epsilon = theory.program_epsilon(n_constraints=n_constraints, budget=budget, calls=rest)
    best = epsilon * (2.0 / budget) ** (1.0 / (budget + 1))
    return [eager, Phase(FPML(n_constraints, budget, best), rest)]


def eager_phase(n_constraints: int, budget: int, calls: int) -> Phase:
    """FPML with a large epsilon that falls as the calls go on."""
    first, decay = theory.fpml_anytime(n_arms=n_constraints, budget=budget)
    return Phase(FPML(n_constraints, budget, EAGERNESS * first, decay), calls)
