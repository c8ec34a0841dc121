"""Zero-sum games to within epsilon, by the loop that solves linear programs.

The columns are the constraints, the row player's mixtures are P. No value has to be guessed:
each call's best response is worth at least the value of the game, the mean of the multipliers
is a mixture of columns that proves an upper bound, and a mix of the answers proves a lower one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pickbest import theory
from pickbest.core import (
    FloatArray,
    Learner,
    PickbestError,
    check_count,
    check_positive,
    check_seed,
)
from pickbest.feasibility.calls import Progress, calls_of
from pickbest.feasibility.constraints import System, as_numbers
from pickbest.feasibility.oracles import oracle_for
from pickbest.feasibility.phases import (
    Phase,
    calls_needed,
    checked_tuning,
    eager_phase,
    schedule,
    spare,
)
from pickbest.feasibility.polytopes import best_worst_slack
from pickbest.feasibility.sets import Simplex
from pickbest.feasibility.solve import phases_for
from pickbest.learners import Hedge


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
    tuning: str | None = None,
    samples: int | None = None,
    max_calls: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Game:
    """Strategies within epsilon of optimal for a zero-sum game.

    payoffs[i, j]: what the row player receives from the column player for row i and column j.
    The other arguments are those of `solve_feasibility`, and so is calls_bound, for half the range
    of the payoffs as the width (and 31/32 of epsilon for the product law, whose oracle is exact to
    the rest); the eager tuning may take a quarter more.

    >>> stone_paper_scissors = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]
    >>> game = solve_game(stone_paper_scissors, epsilon=0.1)
    >>> game.lower <= 0.0 <= game.upper, game.solved
    (True, True)
    """
    check_positive("epsilon", epsilon)
    check_seed(seed)
    table = check_payoffs(payoffs)
    # Centred, so that the costs are in [-width, width].
    middle = (table.max() + table.min()) / 2.0
    system = System.of(table.T, np.full(table.shape[1], middle))
    system.check_budget(budget)
    width = max(float(np.ptp(table)) / 2.0, epsilon / 4.0)
    kind = checked_tuning(tuning, budget, learner)
    inexact = spare(kind, epsilon)
    oracle = oracle_for(Simplex(system.dimension), system, budget, inexact)
    wanted = epsilon - inexact if kind == "product" else epsilon
    bound = calls_needed(system.n_constraints, budget, width, wanted, kind)
    phases = _phases(learner, kind, system.n_constraints, budget, bound)
    allowed = sum(phase.calls for phase in phases)
    if max_calls is not None:
        allowed = min(allowed, check_count("max_calls", max_calls))
    for call in calls_of(system, oracle, width, phases, samples, seed):
        if progress:
            progress(call.number, allowed)
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


def _phases(
    learner: str | Learner | None, tuning: str, n_columns: int, budget: int, calls: int
) -> list[Phase]:
    """As for linear programs, but nothing here is known to be at least 0, which is what leaves
    room for an eager phase: the whole of the proof's follows it, and product has none."""
    if learner is None and tuning == "product":
        rate = theory.constant_rate(budget=budget)
        return [Phase(Hedge(n_columns, rate, budget), calls, 0.0)]
    if learner is not None or tuning != "eager":
        return phases_for(learner, tuning, n_columns, budget, calls)
    proof = schedule(n_columns, budget, calls, "proposition_8")
    return [eager_phase(n_columns, budget, calls // 4), *proof]


def exact_value(payoffs: ArrayLike) -> float:
    """The value of the game, by the linear program max v with v ≤ (rows · payoffs)_j.

    >>> round(exact_value([[2.0, -1.0], [-1.0, 1.0]]), 6)
    0.2
    """
    table = check_payoffs(payoffs)
    return best_worst_slack(System.of(table.T, np.zeros(table.shape[1])), Simplex(len(table)))


def check_payoffs(payoffs: ArrayLike) -> FloatArray:
    """A table of finite numbers with at least one row and one column."""
    table = as_numbers("payoffs", payoffs)
    if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
        raise PickbestError(
            f"payoffs must be a table of finite numbers, got an array of shape {table.shape}"
        )
    return table
