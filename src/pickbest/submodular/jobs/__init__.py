"""Jobs and schedules: monotone submodular functions of what is pulled, with durations.

actions     an activity with a duration, and schedules of them
rounds      what jobs can be asked; any Python function as jobs
families    the built-in jobs; tables is what they are made of
checks      whether a function is a job, and if not, why
offline     greedy and best schedules in hindsight; milp solves them by HiGHS
"""

from pickbest.submodular.jobs.actions import (
    Action as Action,
    Schedule as Schedule,
    action_grid as action_grid,
    check_schedule as check_schedule,
    durations_of as durations_of,
    length as length,
    show as show,
    unit_actions as unit_actions,
)
from pickbest.submodular.jobs.checks import (
    JobReport as JobReport,
    Violation as Violation,
    check_job as check_job,
)
from pickbest.submodular.jobs.families import (
    best_of as best_of,
    coverage as coverage,
    facility_location as facility_location,
    probabilistic_coverage as probabilistic_coverage,
    time_to_solve as time_to_solve,
)
from pickbest.submodular.jobs.offline import (
    BestSchedule as BestSchedule,
    GreedySchedule as GreedySchedule,
    best_schedule as best_schedule,
    greedy_schedule as greedy_schedule,
    schedule_bound as schedule_bound,
)
from pickbest.submodular.jobs.rounds import (
    NOTHING as NOTHING,
    FunctionJobs as FunctionJobs,
    Job as Job,
    Jobs as Jobs,
    RoundJobs as RoundJobs,
    checked_value as checked_value,
)
from pickbest.submodular.jobs.tables import Combine as Combine, TableJobs as TableJobs
