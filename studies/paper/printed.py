"""The learners of the paper's experiments under their printed labels, and the printed numbers.

Source: Falck and Orton, "Trading Off Resource Budgets For Improved Regret Bounds"
(NeurIPS 2022): Table 1 (section 4.2), Table 2 and Table 6 (appendix). Means have three
digits, so each may be off by half a thousandth before anything else is.
"""

from collections.abc import Mapping

from pickbest.catalog import make_learner
from pickbest.core import Learner
from studies.paper.estimates import Estimate

FPML, OG, EXP3 = "FPML-partial", "OG", "Exp3"
UNIFORM, THOMPSON = "B distinct arms at random", "Thompson, top B"
BEST, GREEDY, TOP = "Best in hindsight", "Greedy in hindsight", "Top B in hindsight"

# (budget, slot budget) of every OG_hybrid that the paper runs, in its order.
HYBRIDS = ((2, 1), (3, 1), (4, 2), (4, 1), (5, 1), (6, 3), (6, 2), (6, 1))


def hybrid(budget: int, slot_budget: int) -> str:
    """The printed label of OG_hybrid."""
    return f"OG_hybrid({budget}, {slot_budget})"


SLOT_BUDGETS = {hybrid(*sizes): sizes[1] for sizes in HYBRIDS}
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


def _over(runs: int, rows: Mapping[str, tuple[float, float]]) -> dict[str, Estimate]:
    return {label: Estimate(mean, std, runs) for label, (mean, std) in rows.items()}


# Table 2: normalized validation scores, by budget; it writes 2x3, 2 arms in each of 3 boxes, for
# what is OG_hybrid(6, 2) in Table 1. Table 1 repeats the rows for B = 6 and B = 4.
_SCORES: dict[int, dict[str, tuple[float, float]]] = {
    1: {BEST: (0.574, 0.0), FPML: (0.426, 0.0202), EXP3: (0.351, 0.0194)},
    2: {BEST: (0.710, 0.0), FPML: (0.652, 0.0194), hybrid(2, 1): (0.577, 0.0187),
        OG: (0.519, 0.0179)},
    3: {BEST: (0.779, 0.0), FPML: (0.751, 0.0151), hybrid(3, 1): (0.657, 0.0191),
        OG: (0.617, 0.0166)},
    4: {BEST: (0.836, 0.0), FPML: (0.813, 0.0108), hybrid(4, 2): (0.756, 0.0149),
        hybrid(4, 1): (0.716, 0.0178), OG: (0.689, 0.0151)},
    5: {BEST: (0.874, 0.0), FPML: (0.855, 0.0094), hybrid(5, 1): (0.756, 0.0150),
        OG: (0.734, 0.0140)},
    6: {BEST: (0.901, 0.0), FPML: (0.888, 0.0072), hybrid(6, 3): (0.836, 0.0111),
        hybrid(6, 2): (0.814, 0.0143), hybrid(6, 1): (0.785, 0.0137), OG: (0.767, 0.0157)},
}  # fmt: skip
TABLE_2 = {budget: _over(100, rows) for budget, rows in _SCORES.items()}

# Table 6: performance (1 - cost) in the third synthetic environment, B = 3.
TABLE_6 = _over(50, {
    BEST: (1.0, 0.0), TOP: (1.0, 0.0), FPML: (0.964, 0.0145), hybrid(3, 1): (0.823, 0.0200),
    OG: (0.799, 0.0202),
})  # fmt: skip
