"""Linear programs and zero-sum games to within epsilon, by the loop of Proposition 8's proof.

`solve_feasibility` finds x in P with A x ≥ b - epsilon, or proves that no x in P has A x ≥ b.

`solve_game` takes the columns of a game as the constraints and the row player's mixtures as P. No
value has to be guessed: each call's best response is worth at least the value of the game, the mean
of the multipliers is a mixture of columns that proves an upper bound, and a mix of the answers
proves a lower one.
"""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pickbest import theory
from pickbest.catalog import make_learner
from pickbest.core import (
    FloatArray,
    Learner,
    PickbestError,
    check_count,
    check_positive,
    check_seed,
)
from pickbest.core.progress import OnStep
from pickbest.feasibility.calls import ROUNDING, Call, calls_of
from pickbest.feasibility.oracles import Oracle, oracle_for
from pickbest.feasibility.phases import SPARE_ACCURACY, Phase, calls_needed, schedule
from pickbest.feasibility.sets import ConvexSet, Simplex, System, as_numbers
from pickbest.learners import Hedge


class FeasibilityStatus(Enum):
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

    x: a mix of the oracle's answers, in P (None where infeasible): for two draws or more the best
        one, else their mean.
    worst_slack: the smallest A_i x - b_i, computed anew from x; at least -epsilon if feasible.
    calls, calls_bound: oracle calls made, and the number that is always enough: for two draws
        or more 2 width ln n / (η_B epsilon), for one draw or a learner of your own Proposition 8's.
    samples: draws that stood for each law over tuples; None where the laws were exact. Draws may
        cost calls or a verdict, and never make one wrong.
    """

    status: FeasibilityStatus
    x: FloatArray | None
    worst_slack: float | None
    certificate: Certificate | None
    calls: int
    calls_bound: int
    epsilon: float
    budget: int
    width: float
    samples: int | None


def solve_feasibility(
    A: Any,  # noqa: N803 - the paper's name
    b: ArrayLike,
    oracle: ConvexSet | Oracle,
    epsilon: float,
    budget: int = 1,
    *,
    learner: str | Learner | None = None,
    max_calls: int | None = None,
    seed: int = 0,
    progress: OnStep | None = None,
) -> Feasibility:
    """Find x in P with A_i x ≥ b_i - epsilon for all i, or prove that A x ≥ b has no x in P.

    A: (n, m), dense or sparse. b: (n,). oracle: the set P (a Box, Simplex or Polytope; for
        budget 1 any ConvexSet), or an Oracle of your own.
    budget: B. The learner plays B constraints at once, and the oracle must answer all of them.
    learner: None for AdaHedge at budget 1, and B draws from Hedge above (see `phases`); a name from
        the catalog, tuned for Proposition 8's number of calls; or any Learner over n arms. "fpml"
        is the algorithm of Proposition 8, "hedge" at budget 1 that of Arora, Hazan and Kale.
    max_calls: at most this many calls, if that is less than `calls_bound`.
    progress: called with the calls made and those allowed.

    >>> import numpy as np
    >>> from pickbest.feasibility import Box, solve_feasibility
    >>> found = solve_feasibility([[1, 1], [-1, 0]], [1.5, -0.8], Box.cube(2), epsilon=0.01)
    >>> found.status.value, bool(found.x.sum() >= 1.49)
    ('feasible', True)
    >>> solve_feasibility([[1, 1]], [2.5], Box.cube(2), epsilon=0.01).certificate.value
    -0.5
    """
    system = System.of(A, b)
    check_settings(system, epsilon, budget, seed)
    spare = SPARE_ACCURACY * epsilon
    answers = oracle_for(oracle, system, budget, spare, exact=False)
    rho = answers.width()
    if not math.isfinite(rho):
        raise PickbestError("the width is infinite: P must be bounded; give its variables bounds")
    # Below epsilon / 4 it makes no difference: every x in P is a solution, and T is smallest.
    rho = max(rho, epsilon / 4.0)
    bound = calls_needed(system.n_constraints, budget, rho, epsilon, own=learner is None)
    allowed = bound if max_calls is None else min(check_count("max_calls", max_calls), bound)
    phases = phases_for(learner, system.n_constraints, budget, bound)
    certificate: Certificate | None = None
    status = FeasibilityStatus.UNDECIDED
    for call in calls_of(system, answers, rho, phases, spare, seed):
        if progress:
            progress(call.number, allowed)
        certificate = refutation(call, answers, -ROUNDING * rho)
        if certificate is not None:
            status = FeasibilityStatus.INFEASIBLE
            break
        # The tally's slack is a sum over the calls: computed anew from x before it counts.
        if call.tally.worst_slack >= -epsilon and system.slacks(call.tally.x).min() >= -epsilon:
            status = FeasibilityStatus.FEASIBLE
            break
        if call.number == allowed:
            break
    infeasible = status is FeasibilityStatus.INFEASIBLE
    return Feasibility(
        status=status,
        x=None if infeasible else call.tally.x,
        worst_slack=None if infeasible else float(system.slacks(call.tally.x).min()),
        certificate=certificate,
        calls=call.number,
        calls_bound=bound,
        epsilon=float(epsilon),
        budget=budget,
        width=rho,
        samples=call.samples,
    )


def check_settings(system: System, epsilon: float, budget: int, seed: int) -> None:
    """What programs and games are asked with."""
    check_positive("epsilon", epsilon)
    check_seed(seed)
    most = system.n_constraints
    if not isinstance(budget, int | np.integer) or not 1 <= budget <= most:
        raise PickbestError(
            f"budget must be between 1 and the number of constraints, {most}, got {budget!r}"
        )


def phases_for(
    learner: str | Learner | None, n_constraints: int, budget: int, calls: int
) -> list[Phase]:
    """Our schedule, or one phase of the learner that was asked for."""
    if learner is None:
        return schedule(n_constraints, budget, calls)
    if isinstance(learner, str):
        learner = make_learner(learner, n_constraints, budget, calls)
    if (learner.n_arms, learner.budget) != (n_constraints, budget):
        raise PickbestError(
            f"the learner must have n_arms={n_constraints} and budget={budget}, "
            f"got n_arms={learner.n_arms} and budget={learner.budget}"
        )
    return [Phase(learner, calls)]


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


# Games -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Game:
    """Mixed strategies of both players, and what each is worth whatever the other does.

    rows, columns: probabilities. lower: what `rows` receives at least; upper: what it receives
    at most against `columns`. The value of the game lies between them.
    solved: whether upper - lower ≤ epsilon.
    """

    rows: FloatArray
    columns: FloatArray
    lower: float
    upper: float
    solved: bool
    calls: int
    calls_bound: int
    epsilon: float
    budget: int

    @property
    def value(self) -> float:
        """The middle of the two bounds."""
        return (self.lower + self.upper) / 2.0


def solve_game(
    payoffs: ArrayLike,
    epsilon: float,
    budget: int = 1,
    *,
    learner: str | Learner | None = None,
    max_calls: int | None = None,
    seed: int = 0,
) -> Game:
    """Strategies within epsilon of optimal for a zero-sum game.

    payoffs[i, j]: what the row player receives from the column player for row i and column j.
    The other arguments are those of `solve_feasibility`, and so is calls_bound, for half the range
    of the payoffs as the width, and for 31/32 of epsilon where there are two draws or more and our
    own learner: the oracle is exact to the rest.

    >>> stone_paper_scissors = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]
    >>> game = solve_game(stone_paper_scissors, epsilon=0.1)
    >>> game.lower <= 0.0 <= game.upper, game.solved
    (True, True)
    """
    table = as_numbers("payoffs", payoffs)
    if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
        raise PickbestError(
            f"payoffs must be a table of finite numbers, got an array of shape {table.shape}"
        )
    # Centred, so that the costs are in [-width, width].
    middle = (table.max() + table.min()) / 2.0
    system = System.of(table.T, np.full(table.shape[1], middle))
    check_settings(system, epsilon, budget, seed)
    width = max(float(np.ptp(table)) / 2.0, epsilon / 4.0)
    spare = SPARE_ACCURACY * epsilon
    oracle = oracle_for(Simplex(system.dimension), system, budget, spare)
    n_columns = system.n_constraints
    several = learner is None and budget > 1
    wanted = epsilon - spare if several else epsilon
    bound = calls_needed(n_columns, budget, width, wanted, own=learner is None)
    allowed = bound if max_calls is None else min(check_count("max_calls", max_calls), bound)
    phases = phases_for(learner, n_columns, budget, bound)
    if several:
        # Unlike in linear programs, nothing is known to be at least 0, which is what leaves room
        # for an eager phase there.
        hedge = Hedge(n_columns, theory.constant_rate(budget=budget), budget)
        phases = [Phase(hedge, bound, mixes=True)]
    for call in calls_of(system, oracle, width, phases, spare, seed):
        rows, columns = call.tally.x, call.tally.multipliers
        lower, upper = float((rows @ table).min()), float((table @ columns).max())
        if upper - lower <= epsilon or call.number == allowed:
            break
    return Game(
        rows=rows,
        columns=columns,
        lower=lower,
        upper=upper,
        solved=upper - lower <= epsilon,
        calls=call.number,
        calls_bound=bound,
        epsilon=float(epsilon),
        budget=budget,
    )
