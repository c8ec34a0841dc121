"""Jobs and schedules: monotone submodular functions of what is pulled, with durations.

schedules   actions (an activity with a duration) and sequences of them
families    the built-in jobs; tables is what they are made of
callables   any Python function as jobs
checks      whether a function is a job, and if not, why
offline     greedy and best schedules in hindsight; programs solves them as MILPs
"""

from pickbest.submodular.jobs.callables import FunctionJobs, checked_value
from pickbest.submodular.jobs.checks import JobReport, Violation, check_job
from pickbest.submodular.jobs.families import (
    best_of,
    coverage,
    facility_location,
    probabilistic_coverage,
    time_to_solve,
)
from pickbest.submodular.jobs.offline import (
    BestSchedule,
    GreedySchedule,
    best_schedule,
    greedy_schedule,
    schedule_bound,
)
from pickbest.submodular.jobs.rounds import (
    NOTHING,
    Job,
    Jobs,
    RoundJobs,
)
from pickbest.submodular.jobs.schedules import (
    Action,
    Schedule,
    action_grid,
    check_schedule,
    durations_of,
    length,
    show,
    unit_actions,
)
from pickbest.submodular.jobs.tables import Combine, TableJobs

__all__ = [
    "NOTHING",
    "Action",
    "BestSchedule",
    "Combine",
    "FunctionJobs",
    "GreedySchedule",
    "Job",
    "JobReport",
    "Jobs",
    "RoundJobs",
    "Schedule",
    "TableJobs",
    "Violation",
    "action_grid",
    "best_of",
    "best_schedule",
    "check_job",
    "check_schedule",
    "checked_value",
    "coverage",
    "durations_of",
    "facility_location",
    "greedy_schedule",
    "length",
    "probabilistic_coverage",
    "schedule_bound",
    "show",
    "time_to_solve",
    "unit_actions",
]
