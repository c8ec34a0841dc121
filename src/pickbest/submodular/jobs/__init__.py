"""Jobs and schedules: monotone submodular functions of what is pulled, with durations.

actions     an activity with a duration, and schedules of them
tables      the built-in families of jobs, which are arrays
functions   any Python function as jobs
offline     greedy and best schedules in hindsight
"""

from pickbest.submodular.jobs.actions import (
    Action as Action,
    Schedule as Schedule,
    action_grid as action_grid,
    unit_actions as unit_actions,
)
from pickbest.submodular.jobs.functions import FunctionJobs as FunctionJobs
from pickbest.submodular.jobs.offline import (
    best_schedule as best_schedule,
    greedy_schedule as greedy_schedule,
)
from pickbest.submodular.jobs.tables import (
    TableJobs as TableJobs,
    best_of as best_of,
    coverage as coverage,
    probabilistic_coverage as probabilistic_coverage,
    time_to_solve as time_to_solve,
)
