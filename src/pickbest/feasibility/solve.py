"""Find x in P with A x ≥ b - epsilon, or prove that no x in P has A x ≥ b (Proposition 8)."""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

from numpy.typing import ArrayLike

from pickbest.catalog import make_learner
from pickbest.core import (
    FloatArray,
    Learner,
    PickbestError,
    check_count,
    check_positive,
    check_seed,
)
from pickbest.feasibility.calls import ROUNDING, Call, Progress, calls_of
from pickbest.feasibility.constraints import System
from pickbest.feasibility.oracles import Oracle, as_oracle
from pickbest.feasibility.phases import (
    Phase,
    calls_needed,
    checked_tuning,
    sampling_error,
    schedule,
    spare,
)
from pickbest.feasibility.sets import ConvexSet


class Status(Enum):
    """The three ways in which a run may end."""

    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Certificate:
    """Why no x in P has A x ≥ b: a weighted sum of the constraints that P cannot satisfy.

    multipliers: y ≥ 0, summing to 1. value: the largest y · (A x - b) over P, below 0; if A x ≥ b
    held for some x in P, it would be at least 0.
    """

    multipliers: FloatArray
    value: float


@dataclass(frozen=True)
class Feasibility:
    """What `solve_feasibility` found.

    x: a mix of the oracle's answers, in P (None where infeasible): for the product law the best
        one, else their mean.
    worst_slack: the smallest A_i x - b_i, computed anew from x; at least -epsilon if feasible.
    calls, calls_bound: oracle calls made, and the number that is always enough: for two draws
        or more 2 width ln n / (η_B epsilon), else Proposition 8's.
    stopped_early: whether the verdict came before the calls were used up.
    samples: draws that stood for each law over tuples; None where the laws were exact.
    sampling_error: what they may have added to the violation after these calls, with odds of
        99%; it can cost calls or a verdict, never make one wrong.
    """

    status: Status
    x: FloatArray | None
    worst_slack: float | None
    certificate: Certificate | None
    calls: int
    calls_bound: int
    stopped_early: bool
    epsilon: float
    budget: int
    width: float
    samples: int | None
    sampling_error: float

    @property
    def decided(self) -> bool:
        return self.status is not Status.UNDECIDED


def solve_feasibility(
    A: Any,  # noqa: N803 - the paper's name
    b: ArrayLike,
    oracle: ConvexSet | Oracle,
    epsilon: float,
    budget: int = 1,
    *,
    learner: str | Learner | None = None,
    tuning: str | None = None,
    width: float | None = None,
    samples: int | None = None,
    max_calls: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Feasibility:
    """Find x in P with A_i x ≥ b_i - epsilon for all i, or prove that A x ≥ b has no x in P.

    A: (n, m), dense or sparse. b: (n,). oracle: the set P (Box, Simplex, Ball, Polytope,
        Maximizer), or an Oracle of your own.
    budget: B. The learner plays B constraints at once, and the oracle must answer all of them.
    learner: None for the tuning's own; a name from the catalog, tuned for Proposition 8's number
        of calls; or any Learner over n arms. "hedge" at budget 1 is the algorithm of Arora, Hazan
        and Kale.
    tuning: product, B draws from Hedge at the constant rate, for B ≥ 2; eager FPML; or FPML as in
        the proof, proposition_8 (see `phases`). None: product, at budget 1 eager.
    width: rho, a bound on all |A_i x - b_i|; computed where None, verified where given.
    samples: draws for each law over tuples; None: exact laws where they are known, else 256.
    max_calls: at most this many calls, if that is less than `calls_bound`.

    >>> import numpy as np
    >>> from pickbest.feasibility import Box, solve_feasibility
    >>> found = solve_feasibility([[1, 1], [-1, 0]], [1.5, -0.8], Box.cube(2), epsilon=0.01)
    >>> found.status.value, bool(found.x.sum() >= 1.49)
    ('feasible', True)
    >>> solve_feasibility([[1, 1]], [2.5], Box.cube(2), epsilon=0.01).certificate.value
    -0.5
    """
    system = System.of(A, b)
    check_positive("epsilon", epsilon)
    system.check_budget(budget)
    check_seed(seed)
    if samples is not None:
        check_count("samples", samples)
    kind = checked_tuning(tuning, budget, learner)
    answers = as_oracle(oracle, system, budget, spare(kind, epsilon))
    rho = known_width(answers, width, epsilon)
    n_constraints = system.n_constraints
    bound = calls_needed(n_constraints, budget, rho, epsilon, kind)
    allowed = bound if max_calls is None else min(check_count("max_calls", max_calls), bound)
    phases = phases_for(learner, kind, n_constraints, budget, bound)
    certificate: Certificate | None = None
    status = Status.UNDECIDED
    for call in calls_of(system, answers, rho, phases, samples, seed):
        if progress:
            progress(call.number, allowed)
        certificate = refutation(call, answers, -ROUNDING * rho)
        if certificate is not None:
            status = Status.INFEASIBLE
            break
        if call.tally.worst_slack >= -epsilon and worst_slack(system, call) >= -epsilon:
            status = Status.FEASIBLE
            break
        if call.number == allowed:
            break
    feasible_or_open = status is not Status.INFEASIBLE
    missed = 0.0
    if call.samples is not None:
        drawn = {"samples": call.samples, "budget": budget, "dimension": system.dimension}
        missed = sampling_error(**drawn, width=rho, calls=call.tally.calls)
    return Feasibility(
        status=status,
        x=call.tally.x if feasible_or_open else None,
        worst_slack=worst_slack(system, call) if feasible_or_open else None,
        certificate=certificate,
        calls=call.number,
        calls_bound=bound,
        stopped_early=status is not Status.UNDECIDED and call.number < bound,
        epsilon=float(epsilon),
        budget=budget,
        width=rho,
        samples=call.samples,
        sampling_error=missed,
    )


def phases_for(
    learner: str | Learner | None, tuning: str, n_constraints: int, budget: int, calls: int
) -> list[Phase]:
    """The tuning's schedule, or one phase of the learner that was asked for."""
    if learner is None:
        return schedule(n_constraints, budget, calls, tuning)
    if isinstance(learner, str):
        learner = make_learner(learner, n_constraints, budget, calls)
    if (learner.n_arms, learner.budget) != (n_constraints, budget):
        raise PickbestError(
            f"the learner must have n_arms={n_constraints} and budget={budget}, "
            f"got n_arms={learner.n_arms} and budget={learner.budget}"
        )
    return [Phase(learner, calls)]


def known_width(oracle: Oracle, width: float | None, epsilon: float) -> float:
    """The width that was given, or the oracle's own.

    Below epsilon / 4 it makes no difference: every x in P is a solution, and T is smallest.
    """
    found = oracle.width() if width is None else check_positive("width", width)
    if not math.isfinite(found):
        raise PickbestError("the width is infinite: P must be bounded; give its variables bounds")
    return max(found, epsilon / 4.0)


def refutation(call: Call, oracle: Oracle, below: float) -> Certificate | None:
    """A certificate, verified, where this call's multipliers or their mean so far are one.

    Trying the mean costs as much as a call at B = 1, so it is tried ever more rarely.
    """
    candidates = [call.answer.multipliers] if call.answer.value < below else []
    if call.number % max(1, call.number // 10) == 0:
        candidates.append(call.tally.multipliers)
    for multipliers in candidates:
        value = oracle.bound(multipliers)
        if value < below:
            return Certificate(multipliers, value)
    return None


def worst_slack(system: System, call: Call) -> float:
    """The smallest slack of the mix of answers, computed from x itself."""
    return float(system.slacks(call.tally.x).min())
