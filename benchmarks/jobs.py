"""Games on jobs beside a program that calls a Python job function for every arm and round.

The reference is OG (or OG_hybrid) written plainly: NumPy for the learners, and a job that is a
Python function of the schedule, in the quicker of its plain and NumPy forms. It plays fewer
rounds than ours and is scaled up. Both play one game, so nothing is gained by replicates.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pickbest.learners import FPML, Exp3, Hedge
from pickbest.submodular import OnlineGreedy, jobs as families, play_jobs
from pickbest.submodular.jobs import TableJobs, greedy_schedule
from timing import Row, best_of, ratio_row

N_ARMS, N_ITEMS, ROUNDS, SLOTS = 30, 40, 2_000, 5
REFERENCE_ROUNDS = 40
TARGET = 50.0
Job = Callable[[int, list[int]], float]


def best_of_jobs(rng: np.random.Generator) -> tuple[TableJobs, Job]:
    rewards = rng.random((ROUNDS, N_ARMS))
    plain = rewards.tolist()

    def job(t: int, schedule: list[int]) -> float:
        row = plain[t]
        return max((row[a] for a in schedule), default=0.0)

    return families.best_of(rewards), job


def coverage_jobs(rng: np.random.Generator) -> tuple[TableJobs, Job]:
    covers = rng.random((N_ARMS, N_ITEMS)) < 0.2
    weights = rng.dirichlet(np.ones(N_ITEMS), ROUNDS)
    plain = weights.tolist()
    sets = [frozenset(np.flatnonzero(row).tolist()) for row in covers]

    def job(t: int, schedule: list[int]) -> float:
        row = plain[t]
        return sum([row[i] for i in frozenset().union(*[sets[a] for a in schedule])])

    return families.coverage(covers, weights), job


def facility_jobs(rng: np.random.Generator) -> tuple[TableJobs, Job]:
    benefits = rng.random((N_ARMS, N_ITEMS))
    weights = rng.dirichlet(np.ones(N_ITEMS), ROUNDS)

    def job(t: int, schedule: list[int]) -> float:
        return float(weights[t] @ benefits[schedule].max(axis=0)) if schedule else 0.0

    return families.coverage(benefits, weights), job


def chance_jobs(rng: np.random.Generator) -> tuple[TableJobs, Job]:
    chances = 0.5 * rng.random((N_ARMS, N_ITEMS))
    weights = rng.dirichlet(np.ones(N_ITEMS), ROUNDS)

    def job(t: int, schedule: list[int]) -> float:
        return float(weights[t] @ (1.0 - (1.0 - chances[schedule]).prod(axis=0)))

    return families.probabilistic_coverage(chances, weights), job


def solver_jobs(rng: np.random.Generator) -> tuple[TableJobs, Job]:
    times = rng.exponential(4.0, (ROUNDS, N_ARMS // 3))
    durations = [1, 4, 8]
    plain = times.tolist()

    def job(t: int, schedule: list[int]) -> float:
        best = 0.0
        for arm in schedule:
            needed = plain[t][arm // 3]
            if needed <= durations[arm % 3]:
                best = max(best, 1.0 - needed / 10.0)
        return best

    return families.time_to_solve(times, durations, horizon=10.0), job


FAMILIES = {
    "best of": best_of_jobs,
    "coverage": coverage_jobs,
    "facility location": facility_jobs,
    "probabilistic coverage": chance_jobs,
    "time to solve": solver_jobs,
}


def softmax_pick(
    gains: np.ndarray, rate: float, mixing: float, rng: np.random.Generator
) -> tuple[int, float]:
    """(arm, its probability)."""
    law = np.exp(rate * (gains - gains.max()))
    law = (1.0 - mixing) * law / law.sum() + mixing / len(gains)
    arm = min(int(law.cumsum().searchsorted(rng.random())), len(gains) - 1)
    return arm, law[arm]


def reference_og(job: Job, durations: np.ndarray, rate: float) -> None:
    """OG with Hedge (Algorithm 3), full feedback, one job call per arm, slot and round."""
    rng = np.random.default_rng(0)
    gains = np.zeros((SLOTS, len(durations)))
    for t in range(REFERENCE_ROUNDS):
        schedule: list[int] = []
        for slot in range(SLOTS):
            arm, _ = softmax_pick(gains[slot], rate, 0.0, rng)
            before = job(t, schedule)
            after = [job(t, [*schedule, a]) for a in range(len(durations))]
            gains[slot] += (np.array(after) - before) / durations
            if rng.random() < 1.0 / durations[arm]:
                schedule.append(arm)


def reference_bandit(job: Job, n_arms: int, gamma: float) -> None:
    """OG with Exp3: the job is called for the pulled arms only."""
    rng = np.random.default_rng(0)
    gains = np.zeros((SLOTS, n_arms))
    for t in range(REFERENCE_ROUNDS):
        schedule: list[int] = []
        value = job(t, schedule)
        for slot in range(SLOTS):
            arm, chance = softmax_pick(gains[slot], gamma / n_arms, gamma, rng)
            schedule.append(arm)
            after = job(t, schedule)
            gains[slot, arm] += (after - value) / chance
            value = after


def reference_hybrid(job: Job, n_arms: int, slot_budget: int, epsilon: float) -> None:
    """OG_hybrid (Algorithm 2), full feedback."""
    rng = np.random.default_rng(0)
    costs = np.zeros((SLOTS, n_arms))
    for t in range(REFERENCE_ROUNDS):
        prefix: list[int] = []
        for slot in range(SLOTS):
            noisy = costs[slot] - rng.exponential(1.0 / epsilon, n_arms)
            arms = np.argpartition(noisy, slot_budget)[:slot_budget]
            before = job(t, prefix)
            after = [job(t, [*prefix, a]) for a in range(n_arms)]
            fed = 1.0 - (np.array(after) - before)
            costs[slot] += fed
            prefix.append(int(arms[fed[arms].argmin()]))


def reference_greedy(job: Job, n_arms: int, rounds: int) -> None:
    """The offline greedy schedule."""
    schedule: list[int] = []
    for _ in range(SLOTS):
        totals = [sum(job(t, [*schedule, a]) for t in range(rounds)) for a in range(n_arms)]
        schedule.append(int(np.argmax(totals)))


def rows() -> list[Row]:
    """One row for OG on each family, then OG_hybrid, semi-bandit OG and offline greedy."""
    found = []
    scale = ROUNDS / REFERENCE_ROUNDS
    for name, make in FAMILIES.items():
        jobs, job = make(np.random.default_rng(0))
        learner = OnlineGreedy(Hedge(jobs.n_arms, 0.1), SLOTS, jobs.actions)
        ours = best_of(lambda: play_jobs(learner, jobs, replicates=1))  # noqa: B023
        slow = best_of(lambda: reference_og(job, jobs.durations, 0.1), 2)  # noqa: B023
        found.append(ratio_row(f"OG, {name}", ours, slow * scale, TARGET))
    jobs, job = coverage_jobs(np.random.default_rng(0))
    hybrid = OnlineGreedy(FPML(N_ARMS, 2, 0.2), SLOTS)
    ours = best_of(lambda: play_jobs(hybrid, jobs, replicates=1))
    slow = best_of(lambda: reference_hybrid(job, N_ARMS, 2, 0.2), 2)
    found.append(ratio_row("OG_hybrid, coverage", ours, slow * scale, TARGET))
    bandit = OnlineGreedy(Exp3(N_ARMS, 0.1), SLOTS)
    ours = best_of(lambda: play_jobs(bandit, jobs, replicates=1))
    slow = best_of(lambda: reference_bandit(job, N_ARMS, 0.1), 2)
    found.append(ratio_row("OG, semi-bandit, coverage", ours, slow * scale, TARGET))
    few = REFERENCE_ROUNDS
    ours = best_of(lambda: greedy_schedule(jobs, SLOTS))
    slow = best_of(lambda: reference_greedy(job, N_ARMS, few), 2)
    found.append(ratio_row("offline greedy, coverage", ours, slow * scale, TARGET))
    return found
