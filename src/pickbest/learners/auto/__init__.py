"""Auto, the learner to start with, and what it is made of.

sets: proposals from single arms and pairs. guard: FPML's leader among them. features: sets from
problems like this one. stopped, kinds: races whose losers were stopped. schedules: plans
where processor time has a price.
"""

from pickbest.learners.auto.learner import Auto as Auto
from pickbest.learners.auto.schedules import Schedules as Schedules
from pickbest.learners.auto.stopped import Racing as Racing, racing as racing
