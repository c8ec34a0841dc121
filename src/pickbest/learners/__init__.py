"""Rules that pick arms, one file each, all through the protocol `core.Learner`."""

from pickbest.learners.adahedge import AdaHedge as AdaHedge
from pickbest.learners.auto import Auto as Auto, Racing as Racing, Schedules as Schedules
from pickbest.learners.baselines import Fixed as Fixed, Leaders as Leaders, Uniform as Uniform
from pickbest.learners.calls import Calls as Calls
from pickbest.learners.exp3 import Exp3 as Exp3
from pickbest.learners.fpml import FPML as FPML
from pickbest.learners.fpml_many_arms import FPMLManyArms as FPMLManyArms
from pickbest.learners.fpml_partial import FPMLPartial as FPMLPartial, Weights as Weights
from pickbest.learners.greedy import Greedy as Greedy
from pickbest.learners.hedge import Hedge as Hedge
from pickbest.learners.hedge_partial import HedgePartial as HedgePartial
from pickbest.learners.thompson import Thompson as Thompson
