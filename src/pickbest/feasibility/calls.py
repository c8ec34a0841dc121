"""The loop of Proposition 8's proof: law → oracle's answer → costs → learn, call by call.

What is made of the answers so far is their mean, as in the proof, or their best mix. P is convex,
so every mix of answers will do, and the best one, the shares w that make the smallest
Σ_k w_k slack_k largest, is at least as good as the mean: a linear program with as few columns as
there are answers worth keeping.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pickbest.core import FloatArray, IntArray, PickbestError
from pickbest.feasibility.highs import LinearProgram, Rows
from pickbest.feasibility.laws import AnyLaw, Playing
from pickbest.feasibility.oracles import Answer, Oracle
from pickbest.feasibility.phases import Phase
from pickbest.feasibility.sets import System

# What passes for rounding, relative to the width: of the oracle's arithmetic, and of HiGHS,
# whose own tolerance for rows and bounds is 1e-7.
ROUNDING = 1e-9
SOLVER_ROUNDING = 1e-6

# Rows enter as they are violated, this many at a time, until none is by more than this.
_ROWS_AT_ONCE = 10
_CLOSED = 1e-7
# Answers that had no share in the last mix are kept while there are few.
_MOST_ANSWERS = 50


class MeanAnswer:
    """Sums over the calls of one phase, and the means that they give."""

    def __init__(self, system: System) -> None:
        self.calls = 0
        self._x = np.zeros(system.dimension)
        self._slacks = np.zeros(system.n_constraints)
        self._multipliers = np.zeros(system.n_constraints)

    def add(self, answer: Answer, slacks: FloatArray) -> None:
        self.calls += 1
        self._x += answer.x
        self._slacks += slacks
        self._multipliers += answer.multipliers

    @property
    def x(self) -> FloatArray:
        """The mean of the oracle's answers: the x of Proposition 8."""
        return self._x / self.calls

    @property
    def worst_slack(self) -> float:
        """The smallest slack of the mean answer."""
        return float(self._slacks.min()) / self.calls

    @property
    def multipliers(self) -> FloatArray:
        """The mean of the answers' multipliers, in case it is a certificate and they are not."""
        return self._multipliers / self.calls


class BestMix(MeanAnswer):
    """A tally whose x is the best mix, not the mean; the mean is one of what is mixed."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self._points = np.empty((0, system.dimension))
        self._each = np.empty((0, system.n_constraints))
        self._shares = np.empty(0)
        self._rows: IntArray = np.empty(0, np.int64)

    def add(self, answer: Answer, slacks: FloatArray) -> None:
        super().add(answer, slacks)
        kept = np.argsort(-self._shares[1:], kind="stable")[: _MOST_ANSWERS - 1] + 1
        self._points = np.vstack([super().x, self._points[kept], answer.x])
        self._each = np.vstack([self._slacks / self.calls, self._each[kept], slacks])
        self._solve()

    @property
    def x(self) -> FloatArray:
        return self._shares @ self._points

    @property
    def worst_slack(self) -> float:
        return float((self._shares @ self._each).min())

    def _solve(self) -> None:
        each = self._each
        size = max(float(np.abs(each).max()), 1e-300)
        rows = np.union1d(self._rows, each.argmin(axis=1))
        n_answers = len(each)
        shares_sum_to_one = Rows(
            np.append(np.ones(n_answers), 0.0)[None],
            np.ones(1),
            np.ones(1),
            np.append(np.zeros(n_answers), -np.inf),
            np.full(n_answers + 1, np.inf),
        )
        program = LinearProgram(shares_sum_to_one)
        entered: list[int] = []
        while True:
            for row in rows:
                program.add_row(0.0, np.append(each[:, row] / size, -1.0))
            entered += rows.tolist()
            best = program.maximize(np.append(np.zeros(n_answers), 1.0))
            shares = np.maximum(best.x[:-1], 0.0)
            self._shares = shares / shares.sum()
            mixed = self._shares @ each
            rows = np.setdiff1d(np.argsort(mixed, kind="stable")[:_ROWS_AT_ONCE], entered)
            rows = rows[mixed[rows] < (best.value - _CLOSED) * size]
            if not len(rows):
                break
        # The constraints that hold the mix back: the next program starts with them.
        self._rows = np.array(entered)[best.row_duals[1:] < 0.0]


@dataclass(frozen=True)
class Call:
    """One call of the oracle: its number, its answer, and the tally with it."""

    number: int
    answer: Answer
    tally: MeanAnswer
    samples: int | None


def calls_of(
    system: System, oracle: Oracle, width: float, phases: Sequence[Phase], spare: float, seed: int
) -> Iterator[Call]:
    """Play the phases. Whoever iterates decides when to stop.

    spare: by how much the expected smallest slack of an answer may be below 0.
    """
    number = 0
    for phase in phases:
        playing = Playing(phase.learner, seed)
        tally = BestMix(system) if phase.mixes else MeanAnswer(system)
        for _ in range(phase.calls):
            law = playing.law(number)
            answer = oracle.answer(law)
            slacks = system.slacks(answer.x)
            number += 1
            check_answer(answer, slacks, law, width, number, spare)
            tally.add(answer, slacks)
            # The proof's costs, from [-width, width] to [0, 1].
            playing.learn(np.clip((slacks + width) / (2.0 * width), 0.0, 1.0))
            yield Call(number, answer, tally, playing.samples)


def check_answer(
    answer: Answer, slacks: FloatArray, law: AnyLaw, width: float, number: int, spare: float
) -> None:
    """An oracle must keep to its width, and find an x where it says that there may be one."""
    largest = int(np.argmax(np.abs(slacks)))
    reached = float(abs(slacks[largest]))
    if not reached <= width * (1.0 + SOLVER_ROUNDING):
        raise PickbestError(
            f"the oracle's width must bound every |A_i x - b_i| that it answers: call {number} has "
            f"{reached:g} at constraint {largest}, above {width:g}"
        )
    expected = law.expected_minimum(slacks)
    if answer.value >= 0.0 and expected < -spare - SOLVER_ROUNDING * width:
        raise PickbestError(
            f"the oracle's answer to call {number} has a negative expected smallest slack, "
            f"{expected:g}, though the oracle says that {answer.value:g} can be reached"
        )
