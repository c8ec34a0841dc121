"""Rules that pick arms: a file per family, all through the protocol `game.Learner`."""

from pickbest.learners.adaptive import FPMLAdaptive
from pickbest.learners.auto import Auto, Pairwise
from pickbest.learners.baselines import UCB, Exp3M, Fixed, Leaders, Thompson, Uniform
from pickbest.learners.cells import cells_of
from pickbest.learners.contextual import Contextual
from pickbest.learners.doubling import Doubling
from pickbest.learners.greedy import Greedy
from pickbest.learners.greedy_slots import GreedyThompson, GreedyUCB
from pickbest.learners.guarded import Guarded
from pickbest.learners.leaders import FPML, FPMLPartial, Weights
from pickbest.learners.many import FPMLFullManyArms, FPMLManyArms
from pickbest.learners.tsallis import Tsallis
from pickbest.learners.warm import Warm
from pickbest.learners.weights import Exp3, Exp3IX, Hedge
from pickbest.learners.yielding import Yielding

__all__ = [
    "FPML",
    "UCB",
    "Auto",
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
    "Greedy",
    "GreedyThompson",
    "GreedyUCB",
    "Guarded",
    "Hedge",
    "Leaders",
    "Pairwise",
    "Thompson",
    "Tsallis",
    "Uniform",
    "Warm",
    "Weights",
    "Yielding",
    "cells_of",
]
