"""The loop of Proposition 8's proof: law → oracle's answer → costs → learn, call by call."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.feasibility.constraints import System
from pickbest.feasibility.laws import AnyLaw, drawer_for
from pickbest.feasibility.oracles import Answer, Oracle
from pickbest.feasibility.product_law import ProductLaw
from pickbest.feasibility.schedules import Phase
from pickbest.feasibility.tallies import BestMix, Tally

# progress(calls made, calls allowed)
Progress = Callable[[int, int], None]

# What passes for rounding, relative to the width: of the oracle's arithmetic, and of HiGHS,
# whose own tolerance for rows and bounds is 1e-7.
ROUNDING = 1e-9
SOLVER_ROUNDING = 1e-6


@dataclass(frozen=True)
class Call:
    """One call of the oracle: its number, its answer, and the tally with it."""

    number: int
    answer: Answer
    tally: Tally
    samples: int | None


def calls_of(
    system: System,
    oracle: Oracle,
    width: float,
    phases: Sequence[Phase],
    samples: int | None,
    seed: int,
) -> Iterator[Call]:
    """Play the phases. Whoever iterates decides when to stop."""
    number = 0
    for phase in phases:
        drawer = drawer_for(phase.learner, samples, seed)
        tally = Tally(system) if phase.pressed is None else BestMix(system)
        for _ in range(phase.calls):
            law = pressed(drawer.law(number), tally, phase.pressed or 0.0)
            answer = oracle.answer(law)
            slacks = system.slacks(answer.x)
            number += 1
            check_answer(
                answer, slacks, law.expected_minimum(slacks), width, number, oracle.tolerance
            )
            tally.add(answer, slacks)
            # The proof's costs, from [-width, width] to [0, 1].
            drawer.learn(np.clip((slacks + width) / (2.0 * width), 0.0, 1.0))
            yield Call(number, answer, tally, drawer.samples)


def pressed(law: AnyLaw, tally: Tally, share: float) -> AnyLaw:
    """The law, with a share of its draws at the constraints that hold the best mix back."""
    if not share or not isinstance(law, ProductLaw) or not isinstance(tally, BestMix):
        return law
    together = (1.0 - share) * law.probabilities + share * tally.pressure
    return ProductLaw(together, law.budget)


def check_answer(
    answer: Answer, slacks: FloatArray, expected: float, width: float, number: int, tolerance: float
) -> None:
    """An oracle must keep to its width, and find an x where it says that there may be one."""
    largest = int(np.argmax(np.abs(slacks)))
    reached = float(abs(slacks[largest]))
    if not reached <= width * (1.0 + SOLVER_ROUNDING):
        raise PickbestError(
            f"width must bound every |A_i x - b_i| that the oracle answers: call {number} has "
            f"{reached:g} at constraint {largest}, above width={width:g}; give a larger width, "
            "or none to have it computed"
        )
    if answer.value >= 0.0 and expected < -tolerance - SOLVER_ROUNDING * width:
        raise PickbestError(
            f"the oracle's answer to call {number} has a negative expected smallest slack, "
            f"{expected:g}, though the oracle says that {answer.value:g} can be reached"
        )
