"""The learners that come with the package, by name.

A learner whose options are the fields of its class needs one line with that class; one that
theory tunes or that holds other learners has a function in `builders`.
"""

import dataclasses

from pickbest import learners
from pickbest.catalog import builders
from pickbest.catalog.learners import LearnerEntry, register_kinds, register_learner
from pickbest.learners import Auto, Calls, Leaders, Schedules, Thompson, Uniform

BUILT_IN = (
    LearnerEntry(
        "auto", "the one to start with: top B or complementary, guarded, nothing to set", Auto),
    LearnerEntry("fpml", "perturbed leaders, sees all costs (Algorithm 1)",
                 builders.fpml, builders.FPML_TUNINGS),
    LearnerEntry("fpml-partial",
                 "perturbed leaders, sees the costs of its own arms (Proposition 5)",
                 builders.fpml_partial, builders.PARTIAL_TUNINGS),
    LearnerEntry(
        "hedge",
        "exponential weights, B draws, sees all costs: regret that does not grow from B = 2 on",
        builders.hedge, builders.HEDGE_TUNINGS),
    LearnerEntry(
        "hedge-partial",
        "exponential weights over relative costs, sees its own arms; B ≥ 2, bounded regret",
        builders.hedge_partial),
    LearnerEntry("exp3", "exponential weights, one arm, sees its own cost",
                 builders.exp3, builders.EXP3_TUNINGS),
    LearnerEntry("og",
                 "online greedy: Exp3 (or Hedge, with feedback=full) in each slot (Algorithm 3)",
                 builders.og, (*builders.EXP3_TUNINGS, "standard")),
    LearnerEntry("og-hybrid",
                 "online greedy: FPML with slot_budget arms in each slot (Algorithm 2)",
                 builders.og_hybrid, (*builders.PARTIAL_TUNINGS, *builders.FPML_TUNINGS)),
    LearnerEntry("thompson", "the B best Beta posterior draws", Thompson),
    LearnerEntry("schedules",
                 "how many arms, and one before others, where processor time has a price",
                 Schedules),
    LearnerEntry("calls",
                 "how many arms, and whether another, where every call has a price", Calls),
    LearnerEntry("leaders", "the B leaders so far, no noise, sees all costs", Leaders),
    LearnerEntry("uniform", "B distinct arms at random", Uniform),
    LearnerEntry("fixed", "the same arms in every round", builders.fixed),
)  # fmt: skip


def register_built_in() -> None:
    """Once, when the catalog is imported."""
    for entry in BUILT_IN:
        register_learner(entry)
    public = vars(learners).values()
    kinds = (kind for kind in public if isinstance(kind, type) and dataclasses.is_dataclass(kind))
    register_kinds(*kinds)
