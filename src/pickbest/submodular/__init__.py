"""Online submodular maximisation (section 3): learners of schedules, played on jobs."""

from pickbest.learners.adahedge import AdaHedge
from pickbest.submodular.builders import greedy_guarantee, online_greedy, online_hybrid
from pickbest.submodular.learner import OnlineGreedy, Plan
from pickbest.submodular.play import JobRun, play_jobs
from pickbest.theory import og_adahedge_regret_bound

__all__ = [
    "AdaHedge",
    "JobRun",
    "OnlineGreedy",
    "Plan",
    "greedy_guarantee",
    "og_adahedge_regret_bound",
    "online_greedy",
    "online_hybrid",
    "play_jobs",
]
