"""The learners of the paper's experiments, as data: printed label → learner with its options."""

from pickbest.catalog import make_learner
from pickbest.core import Learner

FPML, OG, EXP3 = "FPML-partial", "OG", "Exp3"
UNIFORM, THOMPSON = "B distinct arms at random", "Thompson, top B"
BEST, GREEDY, TOP = "Best in hindsight", "Greedy in hindsight", "Top B in hindsight"

# (budget, slot budget) of every OG_hybrid that the paper runs, in its order.
HYBRIDS = ((2, 1), (3, 1), (4, 2), (4, 1), (5, 1), (6, 3), (6, 2), (6, 1))


def hybrid(budget: int, slot_budget: int) -> str:
    """The printed label of OG_hybrid."""
    return f"OG_hybrid({budget}, {slot_budget})"


LEARNERS = {
    FPML: "fpml-partial",
    **{hybrid(*sizes): f"og-hybrid:slot_budget={sizes[1]}" for sizes in HYBRIDS},
    OG: "og",
    EXP3: "exp3",
    UNIFORM: "uniform",
    THOMPSON: "thompson",
}
UNTUNED = (UNIFORM, THOMPSON)
HINDSIGHT = {BEST: "best_subset", GREEDY: "greedy", TOP: "top"}

AS_RUN, AS_WRITTEN, OURS = "as run", "as written", "ours"
# "as run" and "as written" imply resampled weights and independent slots; "ours", the catalog's
# default, has exact weights, distinct slots and Auer's γ.
TUNINGS = {AS_RUN: "as_run", AS_WRITTEN: "as_written", OURS: None}


def learner_rows(budget: int) -> list[str]:
    """The tuned learners that the paper runs at a budget, in its order.

    >>> learner_rows(4)
    ['FPML-partial', 'OG_hybrid(4, 2)', 'OG_hybrid(4, 1)', 'OG']
    """
    if budget == 1:
        return [FPML, EXP3]
    return [FPML, *(hybrid(*sizes) for sizes in HYBRIDS if sizes[0] == budget), OG]


def is_hybrid(label: str) -> bool:
    """Whether a label is one of OG_hybrid's."""
    return label.startswith("OG_hybrid")


def make_row(label: str, tuning: str, n_arms: int, budget: int, rounds: int) -> Learner:
    """The learner of a row in one of the tunings."""
    return make_learner(LEARNERS[label], n_arms, budget, rounds, TUNINGS[tuning])
