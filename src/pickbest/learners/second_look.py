"""Auto as it picks in races: its sets of three are looked at again (`kernels.triples`)."""

from typing import NamedTuple

from pickbest.kernels.compiled import allocating, part
from pickbest.kernels.rules import Pick, Rule
from pickbest.kernels.triples import TriplesState, look_again
from pickbest.learners import auto


class LookedState(NamedTuple):
    """What auto knows, and what is known of triples."""

    auto: auto.AutoState
    triples: TriplesState


@allocating
def new_work(law: auto.Law, state: LookedState, budget: int) -> auto.Work:
    return auto.new_work(law, state.auto, budget)


@part
def pick_row(law: auto.Law, state: LookedState, row: int, work: auto.Work, pick: Pick) -> None:
    """Whatever the set is that the guard's leader may come into, its weights are exact."""
    auto.propose(law, state.auto, row, work, pick)
    if not auto.wears_off(state.auto.wear, row, pick.arms.shape[0]):
        look_again(state.triples, state.auto.pairs, row, pick.key, pick.arms)
    auto.guard_last(law, state.auto, row, work, pick)


RULE = Rule(__name__, new_work, pick_row, auto.learn_row)
