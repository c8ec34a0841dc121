"""Online submodular maximisation (section 3): learners of schedules, played on jobs."""

from pickbest.submodular.learner import (
    OnlineGreedy as OnlineGreedy,
    PickedSchedules as PickedSchedules,
    online_greedy as online_greedy,
    online_hybrid as online_hybrid,
)
from pickbest.submodular.play import JobRun as JobRun, play_jobs as play_jobs
