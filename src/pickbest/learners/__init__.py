"""Rules that pick arms, one file each, all through the protocol `core.Learner`."""

from pickbest.learners.adahedge import AdaHedge
from pickbest.learners.auto import Auto
from pickbest.learners.auto_in_context import AutoInContext
from pickbest.learners.baselines import Fixed, Leaders, Uniform
from pickbest.learners.contextual import Contextual, cells_of
from pickbest.learners.doubling import Doubling
from pickbest.learners.exp3 import Exp3, Exp3IX
from pickbest.learners.exp3_m import Exp3M
from pickbest.learners.fpml import FPML
from pickbest.learners.fpml_adaptive import FPMLAdaptive
from pickbest.learners.fpml_blocks import FPMLFullManyArms
from pickbest.learners.fpml_buckets import FPMLManyArms
from pickbest.learners.fpml_partial import FPMLPartial, Weights
from pickbest.learners.greedy import Greedy
from pickbest.learners.greedy_thompson import GreedyThompson
from pickbest.learners.greedy_ucb import GreedyUCB
from pickbest.learners.guarded import Guarded, GuardedLast
from pickbest.learners.hedge import Hedge
from pickbest.learners.hedge_partial import HedgePartial
from pickbest.learners.hedge_subsets import HedgeSubsets
from pickbest.learners.pairwise import Pairwise
from pickbest.learners.schedules import FixedSchedule, Schedules
from pickbest.learners.thompson import Thompson
from pickbest.learners.tsallis import Tsallis
from pickbest.learners.ucb import UCB
from pickbest.learners.warm import Warm

__all__ = [
    "FPML",
    "UCB",
    "AdaHedge",
    "Auto",
    "AutoInContext",
    "Contextual",
    "Doubling",
    "Exp3",
    "Exp3IX",
    "Exp3M",
    "FPMLAdaptive",
    "FPMLFullManyArms",
    "FPMLManyArms",
    "FPMLPartial",
    "Fixed",
    "FixedSchedule",
    "Greedy",
    "GreedyThompson",
    "GreedyUCB",
    "Guarded",
    "GuardedLast",
    "Hedge",
    "HedgePartial",
    "HedgeSubsets",
    "Leaders",
    "Pairwise",
    "Schedules",
    "Thompson",
    "Tsallis",
    "Uniform",
    "Warm",
    "Weights",
    "cells_of",
]
