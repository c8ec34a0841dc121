"""The learners that come with the package, by name."""

from __future__ import annotations

from pickbest.catalog import families, practical
from pickbest.catalog.registry import LearnerEntry, Retuned, register_learner
from pickbest.learners import (
    FPML,
    UCB,
    Auto,
    Doubling,
    Exp3,
    Exp3IX,
    Exp3M,
    Fixed,
    FPMLAdaptive,
    FPMLFullManyArms,
    FPMLManyArms,
    FPMLPartial,
    Greedy,
    GreedyThompson,
    GreedyUCB,
    Guarded,
    GuardedLast,
    Hedge,
    Leaders,
    Pairwise,
    Thompson,
    Tsallis,
    Uniform,
    Warm,
)

BUILT_IN: tuple[tuple[LearnerEntry, tuple[type, ...]], ...] = (
    (
        LearnerEntry(
            "auto",
            "the one to start with: top B or complementary, guarded, nothing to set",
            practical.build_auto,
        ),
        (Auto,),
    ),
    (
        LearnerEntry(
            "fpml",
            "perturbed leaders, sees all costs (Algorithm 1)",
            families.build_fpml_any,
            families.FPML_TUNINGS,
        ),
        (FPML, FPMLFullManyArms),
    ),
    (
        LearnerEntry(
            "fpml-partial",
            "perturbed leaders, sees the costs of its own arms (Proposition 5)",
            families.build_fpml_partial_any,
            families.PARTIAL_TUNINGS,
            needs_rounds=True,
        ),
        (FPMLPartial, FPMLManyArms),
    ),
    (
        LearnerEntry(
            "fpml-adaptive",
            "perturbed leaders, exact weights, a rate that adapts, sees its own arms",
            practical.build_fpml_adaptive,
        ),
        (FPMLAdaptive,),
    ),
    (
        LearnerEntry(
            "hedge",
            "exponential weights, one arm, sees all costs",
            families.build_hedge,
            ("standard",),
            needs_rounds=True,
            single_arm=True,
        ),
        (Hedge,),
    ),
    (
        LearnerEntry(
            "exp3",
            "exponential weights, one arm, sees its own cost",
            families.build_exp3,
            families.EXP3_TUNINGS,
            needs_rounds=True,
            single_arm=True,
        ),
        (Exp3,),
    ),
    (
        LearnerEntry(
            "exp3-ix",
            "Exp3 with implicit exploration, one arm",
            families.build_exp3_ix,
            ("neu",),
            needs_rounds=True,
            single_arm=True,
        ),
        (Exp3IX,),
    ),
    (
        LearnerEntry(
            "og",
            "online greedy: Exp3 (or Hedge, with feedback=full) in each slot (Algorithm 3)",
            families.build_og,
            (*families.EXP3_TUNINGS, "standard"),
            needs_rounds=True,
        ),
        (Greedy,),
    ),
    (
        LearnerEntry(
            "og-hybrid",
            "online greedy: FPML with slot_budget arms in each slot (Algorithm 2)",
            families.build_og_hybrid,
            (*families.PARTIAL_TUNINGS, *families.FPML_TUNINGS),
            needs_rounds=True,
        ),
        (),
    ),
    (
        LearnerEntry(
            "exp3-m",
            "Exp3 for subsets and sums of rewards",
            families.build_exp3_m,
            ("uchiya",),
            needs_rounds=True,
        ),
        (Exp3M,),
    ),
    (
        LearnerEntry("thompson", "the B best Beta posterior draws", families.build_thompson),
        (Thompson,),
    ),
    (LearnerEntry("ucb", "the B best upper confidence bounds", families.build_ucb), (UCB,)),
    (
        LearnerEntry(
            "greedy-thompson",
            "a complementary set: Beta draws of what an arm adds to the slots before",
            practical.build_greedy_thompson,
        ),
        (GreedyThompson,),
    ),
    (
        LearnerEntry(
            "greedy-ucb",
            "a complementary set: upper bounds of what an arm adds to the slots before",
            practical.build_greedy_ucb,
        ),
        (GreedyUCB,),
    ),
    (
        LearnerEntry(
            "pairwise",
            "a complementary set: what pairs of arms gain over each other",
            practical.build_pairwise,
        ),
        (Pairwise,),
    ),
    (
        LearnerEntry(
            "guarded",
            "any learner, with FPML's leader always in its set",
            practical.build_guarded,
        ),
        (Guarded, GuardedLast, Warm),
    ),
    (
        LearnerEntry(
            "tsallis",
            "regularised leader over subsets, best of both worlds",
            practical.build_tsallis,
        ),
        (Tsallis,),
    ),
    (
        LearnerEntry(
            "leaders", "the B leaders so far, no noise, sees all costs", families.build_leaders
        ),
        (Leaders,),
    ),
    (LearnerEntry("uniform", "B distinct arms at random", families.build_uniform), (Uniform,)),
    (LearnerEntry("fixed", "the same arms in every round", families.build_fixed), (Fixed,)),
)

for _entry, _kinds in BUILT_IN:
    register_learner(_entry, *_kinds, Doubling, Retuned)
