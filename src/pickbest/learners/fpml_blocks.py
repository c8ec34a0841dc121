"""FPML for very many arms: a round takes little more than adding the costs up."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from pickbest.core import FloatArray, IntArray
from pickbest.core.states import counts, derived, sums
from pickbest.kernels.compiled import allocating, inlined
from pickbest.kernels.leaders import decayed
from pickbest.kernels.many_arms.blocks import (
    BlockWork,
    add_costs,
    block_minima,
    block_work,
    pick_from_blocks,
)
from pickbest.kernels.rules import Pick, Rule, Told
from pickbest.learners.fpml import FPMLState, Law, Perturbed, start_leaders


class BlocksState(NamedTuple):
    """costs: cumulative; round: how many were learned; lowest: the lowest cost of each block."""

    costs: Annotated[FloatArray, sums(-1)]
    round: Annotated[IntArray, counts()]
    lowest: Annotated[FloatArray, derived()]


@allocating
def new_work(law: Law, state: BlocksState, budget: int) -> BlockWork:
    return block_work(state.lowest.shape[1], budget)


@inlined
def pick_row(law: Law, state: BlocksState, row: int, work: BlockWork, pick: Pick) -> None:
    """Algorithm 1, steps 1 to 3, for the arms that may lead."""
    key, arms = pick.key, pick.arms
    epsilon = decayed(law.epsilon, law.decay, state.round[row])
    costs, lowest = state.costs[row], state.lowest[row]
    pick_from_blocks(costs, lowest, epsilon, key, work, arms)


@inlined
def learn_row(law: Law, state: BlocksState, row: int, work: BlockWork, told: Told) -> None:
    """Algorithm 1, step 4: all costs of the round are added."""
    seen = told.costs
    add_costs(state.costs[row], seen, state.lowest[row])
    state.round[row] += 1


RULE = Rule(new_work, pick_row, learn_row, weighted=False)


@dataclass(frozen=True)
class FPMLFullManyArms(Perturbed[BlocksState, BlockWork]):
    """FPML with full feedback and fresh perturbations, for thousands of arms and more.

    Its picks have FPML's law, but only the few arms that may lead are perturbed (see
    kernels.many_arms).

    >>> import numpy as np
    >>> from pickbest.core import Seen, replicate_keys, rng_for
    >>> learner = FPMLFullManyArms(n_arms=5_000, budget=2, epsilon=1.0)
    >>> state = learner.start(replicates=1)
    >>> costs = np.ones((1, 5_000))
    >>> costs[0, 17] = 0.0
    >>> choice = learner.pick(state, rng_for(replicate_keys(0, 1), 0))
    >>> for _ in range(60):
    ...     state = learner.learn(state, choice, Seen.of(costs))
    >>> int(learner.pick(state, rng_for(replicate_keys(0, 1), 1)).arms[0, 0])
    17
    """

    n_arms: int
    budget: int
    epsilon: float
    decay: float = 0.0
    rule = RULE

    def start(self, replicates: int) -> BlocksState:
        return self.restored(start_leaders(replicates, self.n_arms))

    def portable(self, state: BlocksState) -> FPMLState:
        """What FPML would know."""
        return FPMLState(state.costs, state.round)

    def restored(self, known: FPMLState) -> BlocksState:
        return BlocksState(known.costs, known.round, block_minima(known.costs))
