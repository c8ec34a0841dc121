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
from functools import lru_cache
from itertools import combinations

import numpy as np

from pickbest import theory
from pickbest.core import (
    Choice,
    FloatArray,
    IntArray,
    Learner,
    PickbestError,
    State,
    replicate_keys,
    rng_for,
    unknown_name,
    visible,
)
from pickbest.feasibility.laws import AnyLaw, Law, ProductLaw
from pickbest.kernels import leader_laws
from pickbest.kernels.leaders import decayed
from pickbest.learners import FPML, Hedge
from pickbest.learners.fpml import Noise

TUNINGS = ("product", "eager", "proposition_8")

# Where there are at most this many subsets, FPML's law is computed for each of them.
MOST_SUBSETS = 600
DEFAULT_SAMPLES = 256

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


def checked_tuning(tuning: str | None, budget: int, learner: object = None) -> str:
    """The tuning's name; None: product for B ≥ 2, eager for B = 1.

    A learner of one's own gets Proposition 8's calls.
    """
    if tuning is None:
        tuning = "product" if budget > 1 else "eager"
    elif tuning not in TUNINGS:
        raise unknown_name("tuning", tuning, TUNINGS)
    elif tuning == "product" and budget < 2:
        raise PickbestError("tuning product needs a budget of 2 or more, got 1: take eager")
    return tuning if learner is None else "proposition_8"


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


class Playing:
    """A learner in the middle of its game, as the law over tuples that it plays next.

    Hedge and FPML see every cost, so one state has one law: exact for Hedge (the product of its
    draws), for one constraint and, for FPML, where there are few subsets. Any other case takes
    `samples` draws: as many replicates, all fed the same costs.

    samples: how many draws stand for a law; None: laws are exact.
    """

    def __init__(self, learner: Learner, samples: int | None, seed: int) -> None:
        exact = samples is None and has_exact_law(learner)
        self.samples = None if exact else samples or DEFAULT_SAMPLES
        self._learner = learner
        self._keys = replicate_keys(seed, self.samples or 1)
        self._state = learner.start(len(self._keys))
        # A learner that sees every cost learns the same whatever was picked.
        self._choice = Choice(np.empty((1, 0), np.int64), np.empty((1, 0)))

    def law(self, round_index: int) -> AnyLaw:
        """What it plays in that round."""
        if self.samples is None:
            return exact_law(self._learner, self._state)
        self._choice = self._learner.pick(self._state, rng_for(self._keys, round_index))
        return merged(self._choice.arms, self._learner.n_arms)

    def learn(self, costs: FloatArray) -> None:
        """Fold in the costs of all constraints, scaled to [0, 1]."""
        same = np.ascontiguousarray(np.broadcast_to(costs, (len(self._keys), len(costs))))
        seen = visible(self._learner, self._choice, same)
        self._state = self._learner.learn(self._state, self._choice, seen)


def has_exact_law(learner: Learner) -> bool:
    """Hedge's is known; FPML's for single arms, and where there are few subsets."""
    if not isinstance(learner, FPML) or learner.noise is not Noise.EXPONENTIAL:
        return isinstance(learner, Hedge)
    few = learner.n_arms <= leader_laws.MOST_ARMS
    subsets = math.comb(learner.n_arms, learner.budget)
    return learner.budget == 1 or (few and subsets <= MOST_SUBSETS)


def exact_law(learner: Learner, state: State) -> AnyLaw:
    """The law of a learner that has one, in the state of a single replicate."""
    if isinstance(learner, Hedge):
        gains = learner.rate * state.gains[0]
        shares = np.exp(gains - gains.max())
        return ProductLaw(shares / shares.sum(), learner.budget)
    if not isinstance(learner, FPML):
        raise TypeError(f"the law of {type(learner).__name__} is not known")
    costs, epsilon = state.costs[0], decayed(learner.epsilon, learner.decay, state.round[0])
    tuples = _subsets(learner.n_arms, learner.budget)
    chances = np.empty(len(tuples))
    if learner.budget == 1:
        leader_laws.leader_law(costs, epsilon, chances)
    else:
        leader_laws.subset_law(costs, epsilon, tuples, chances)
    return Law(tuples, chances)


@lru_cache(maxsize=4)
def _subsets(n_constraints: int, budget: int) -> IntArray:
    return np.array([*combinations(range(n_constraints), budget)])


def merged(draws: IntArray, n_constraints: int) -> Law:
    """The empirical law of draws (samples, budget): each subset once, with its frequency."""
    ordered = np.sort(draws, axis=1)
    budget = ordered.shape[1]
    if n_constraints**budget < 2**62:
        powers = n_constraints ** np.arange(budget - 1, -1, -1, dtype=np.int64)
        _, first, counts = np.unique(ordered @ powers, return_index=True, return_counts=True)
    else:
        _, first, counts = np.unique(ordered, axis=0, return_index=True, return_counts=True)
    return Law(ordered[first], counts / len(draws))


def sampling_error(
    *, samples: int, budget: int, dimension: int, width: float, calls: int, doubt: float = 0.01
) -> float:
    """What sampling may add to the largest violation after `calls` calls, with odds 1 - doubt.

    The oracle answers the empirical law, Theorem 2 speaks of the true one. With
    f_x(S) = min over S of A_i x - b_i in [-width, width], the difference of the two expectations
    at any x in P is at most Z_t = sup_x (mean of f_x over the samples - E f_x). By symmetrisation
    and Maurer's contraction for vectors (2016), E Z_t ≤ 2 width sqrt(2 B (m + 1) / M), without
    the inner 2 B at B = 1; by McDiarmid and Azuma the mean of Z_t over the calls exceeds its
    expectation by at most 2 width sqrt(ln(1 / doubt) / (2 M calls)).

    >>> round(sampling_error(samples=10_000, budget=1, dimension=3, width=1.0, calls=100), 5)
    0.04303
    """
    copies = 1 if budget == 1 else 2 * budget
    uniform = math.sqrt(copies * (dimension + 1) / samples)
    deviation = math.sqrt(math.log(1.0 / doubt) / (2.0 * samples * calls))
    return 2.0 * width * (uniform + deviation)
