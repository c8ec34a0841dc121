"""Play learners against an environment, many replicates at once, on any number of processes."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pickbest.catalog import make_environment, make_learner
from pickbest.core.arrays import FloatArray, check_costs
from pickbest.core.checks import check_count, check_seed
from pickbest.core.errors import PickbestError, unknown_name
from pickbest.core.features import Features
from pickbest.core.progress import progress_bar
from pickbest.core.randomness import ENVIRONMENT_STREAM, LEARNER_STREAM, replicate_keys, rng_for
from pickbest.core.rounds import informed, keep_best, learn_round, pick_round, play_table, visible
from pickbest.core.types import ContextLearner, Environment, FeatureLearner, Learner
from pickbest.core.workers import each_finished, start_ray
from pickbest.environments import Table, WithFeatures, with_features
from pickbest.environments.columns import Frame
from pickbest.simulation.result import Run, Simulation
from pickbest.simulation.spread import FirstRounds, processes_that_pay

Progress = Callable[[int, int], None]
Players = Mapping[str, Learner | str] | Sequence[Learner | str] | Learner | str
Costs = Environment | Frame | ArrayLike | Path

ENGINES = ("processes", "ray")
# Shorter runs show no bar.
QUIET_SECONDS = 2.0

# Tables of costs are kept for hindsight up to this many entries a learner or run.
MOST_KEPT = 50_000_000


@dataclass(frozen=True)
class _Task:
    """A share of the work: some replicates of every learner."""

    learners: Mapping[str, Learner]
    environment: Environment
    first: int
    replicates: int
    seed: int
    keep_tables: bool

    def seconds(self, replicates: int, rounds: int) -> float:
        """How long so many of its replicates and rounds take."""
        part = replace(
            self, environment=FirstRounds(self.environment, rounds), replicates=replicates
        )
        began = time.perf_counter()
        _play_share(part)
        return time.perf_counter() - began


def simulate(
    learners: Players,
    environment: Costs,
    replicates: int = 100,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | bool | None = True,
    engine: str = "processes",
    budget: int = 1,
    features: Iterable[Features] | None = None,
) -> Simulation:
    """Play every learner in `replicates` independent games, all on the same draws.

    learners: by name, in a list, or one; each a learner or a text ("og:slots=distinct"), which
        is built for `budget` arms a round and the number of rounds.
    environment: one; a table of costs as an array or data frame; or what make_environment takes.
    workers: at most so many processes. Where starting them would take longer than it saves, and
        the first rounds tell, this process plays alone.
    progress: a bar on a terminal or in a notebook where it takes more than two seconds; False
        or None: none; or a function that is called with (done, total) rounds, summed over
        learners and shares of replicates.
    engine: "processes" of this machine, or "ray", a cluster that is reached as ray.init() finds
        it. The result is the same for any number of workers and either engine.
    features: of each round of a table, as `Player.ask` takes them. Learners that can use them do
        (`auto`); the others play as without.

    >>> simulation = simulate(["uniform", "fpml"], "task-3:rounds=40", replicates=10, budget=3)
    >>> 0.8 < simulation.mean_reward("uniform") < 1.0
    True
    """
    check_count("replicates", replicates)
    check_count("workers", workers)
    check_seed(seed)
    if engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    environment = _environment(environment)
    if features is not None:
        environment = with_features(environment, features)
    players = _players(learners, environment, budget)
    tables = len(players) if environment.adaptive else 1
    copies = replicates if environment.varies else 1
    keep = tables * copies * environment.rounds * environment.n_arms <= MOST_KEPT
    whole = _Task(players, environment, 0, replicates, seed, keep)
    if progress is not True:
        parts = _play(whole, workers, engine, progress or None)
    else:
        with progress_bar("simulating", after=QUIET_SECONDS) as bar:
            parts = _play(whole, workers, engine, bar)
    runs = {name: Run.joined([part[name] for part in parts]) for name in players}
    return Simulation(runs, players, environment, replicates, seed)


def _play(
    whole: _Task, workers: int, engine: str, progress: Progress | None
) -> list[dict[str, Run]]:
    """All replicates, in shares."""
    if engine == "processes":
        rounds = whole.environment.rounds
        workers = processes_that_pay(workers, whole.replicates, rounds, whole.seconds)
    shares = _split(whole.replicates, workers)
    tasks = [replace(whole, first=first, replicates=count) for first, count in shares]
    total = len(whole.learners) * whole.environment.rounds * len(tasks)
    if len(tasks) == 1 and engine == "processes":
        return [_play_share(tasks[0], progress, total)]
    parts: dict[int, dict[str, Run]] = {}
    local = each_finished(_play_share, tasks, len(tasks), lambda task: task.replicates)
    for task, part in _on_ray(tasks) if engine == "ray" else local:
        parts[task.first] = part
        if progress:
            progress(total * len(parts) // len(tasks), total)
    return [parts[task.first] for task in tasks]


def _environment(given: Costs) -> Environment:
    if isinstance(given, Environment):
        return given
    if isinstance(given, str | Path):
        return make_environment(given)
    return Table(given)


def _players(learners: Players, environment: Environment, budget: int) -> dict[str, Learner]:
    if isinstance(learners, str | Learner):
        learners = [learners]
    if not isinstance(learners, Mapping):
        names = [text if isinstance(text, str) else type(text).__name__ for text in learners]
        if len(set(names)) < len(names):
            raise PickbestError(f"learners of a list must differ in name, got {', '.join(names)}")
        learners = dict(zip(names, learners, strict=True))
    game: dict[str, Any] = {"n_arms": environment.n_arms, "budget": budget}
    players = {
        name: make_learner(given, **game, rounds=environment.rounds)
        if isinstance(given, str)
        else given
        for name, given in learners.items()
    }
    if not players:
        raise PickbestError("simulate needs at least one learner, got none")
    for name, learner in players.items():
        if learner.n_arms != environment.n_arms:
            raise PickbestError(
                f"learner {name!r} has n_arms={learner.n_arms}, "
                f"but the environment has n_arms={environment.n_arms}"
            )
    return players


def _split(replicates: int, workers: int) -> list[tuple[int, int]]:
    """Shares of nearly equal size, as (first replicate, count)."""
    bounds = [replicates * k // workers for k in range(workers + 1)]
    return [(a, b - a) for a, b in pairwise(bounds) if b > a]


def _on_ray(tasks: list[_Task]) -> Iterator[tuple[_Task, dict[str, Run]]]:
    ray, _ = start_ray("engine='ray'")
    remote = ray.remote(_play_share)
    futures = {remote.remote(task): task for task in tasks}
    waiting = list(futures)
    try:
        while waiting:
            (finished,), waiting = ray.wait(waiting)
            yield futures[finished], ray.get(finished)
    except BaseException:
        for future in waiting:
            ray.cancel(future, force=True)
        raise


def _play_share(task: _Task, progress: Progress | None = None, total: int = 0) -> dict[str, Run]:
    runs: dict[str, Run] = {}
    dealt: Dealt | None = None
    if task.keep_tables and not task.environment.adaptive:
        # Oblivious environments deal every learner the same costs: once is enough.
        dealt = deal_all(task.environment, task.replicates, task.seed, task.first)
    for index, (name, learner) in enumerate(task.learners.items()):
        offset = index * task.environment.rounds

        def report(done: int, offset: int = offset) -> None:
            if progress:
                progress(offset + done, total)

        share = (task.replicates, task.seed, task.first)
        can = isinstance(learner, FeatureLearner | ContextLearner)
        if dealt is not None and not (can and isinstance(task.environment, WithFeatures)):
            runs[name] = play_dealt(learner, dealt, *share, report)
        else:
            runs[name] = play(learner, task.environment, *share, task.keep_tables, report)
    return runs


@dataclass(frozen=True, eq=False)
class Dealt:
    """All costs of an oblivious environment, and what hindsight needs of them.

    table: (replicates or 1, rounds, n_arms); best_arm and totals as in Run.
    """

    table: FloatArray
    best_arm: FloatArray
    totals: FloatArray


def deal_all(environment: Environment, replicates: int, seed: int, first: int = 0) -> Dealt:
    """Deal every round at once."""
    copies = replicates if environment.varies else 1
    bare = environment.inner if isinstance(environment, WithFeatures) else environment
    if isinstance(bare, Table):
        table = bare.costs_table[None]
    else:
        keys = replicate_keys(seed, copies, first, ENVIRONMENT_STREAM)
        dealing = environment.start(copies)
        table = np.empty((copies, environment.rounds, environment.n_arms))
        for t in range(environment.rounds):
            costs = environment.costs(dealing, t, rng_for(keys, t))
            table[:, t] = check_costs(costs, (copies, environment.n_arms), f"round {t}: costs")
    cumulative = np.cumsum(table, axis=1)
    best_arm = np.broadcast_to(cumulative.min(axis=2), (replicates, environment.rounds))
    totals = np.broadcast_to(cumulative[:, -1], (replicates, environment.n_arms))
    return Dealt(table, best_arm, totals)


def play_dealt(
    learner: Learner,
    dealt: Dealt,
    replicates: int,
    seed: int,
    first_replicate: int = 0,
    report: Callable[[int], None] | None = None,
) -> Run:
    """One learner's games on costs that are known beforehand, compiled where it can be."""
    keys = replicate_keys(seed, replicates, first_replicate, LEARNER_STREAM)
    rounds = dealt.table.shape[1]
    state = learner.start(replicates)
    paid = np.empty((replicates, rounds))
    # Short stretches, so that a progress bar moves and Ctrl-C is heard.
    stretch = max(1, 50_000 // replicates)
    for first in range(0, rounds, stretch):
        part = dealt.table[:, first : first + stretch]
        played = slice(first, first + part.shape[1])
        state, paid[:, played] = play_table(learner, state, np.ascontiguousarray(part), keys, first)
        if report:
            report(played.stop)
    return Run(paid, dealt.best_arm, dealt.totals, dealt.table)


def play(
    learner: Learner,
    environment: Environment,
    replicates: int,
    seed: int,
    first_replicate: int = 0,
    keep_table: bool = True,
    report: Callable[[int], None] | None = None,
) -> Run:
    """One learner's games: costs → pick → keep the best → hide → learn, round by round."""
    n_arms, rounds = environment.n_arms, environment.rounds
    learner_keys = replicate_keys(seed, replicates, first_replicate, LEARNER_STREAM)
    environment_keys = replicate_keys(seed, replicates, first_replicate, ENVIRONMENT_STREAM)
    state, dealing = learner.start(replicates), environment.start(replicates)
    known = None
    if isinstance(environment, WithFeatures):
        using = informed(learner, environment.names, state)
        if using is not None:
            (learner, state), known = using, environment.known
    paid = np.empty((replicates, rounds))
    best_arm = np.empty((replicates, rounds))
    totals = np.zeros((replicates, n_arms))
    copies = replicates if environment.varies else 1
    table = np.empty((copies, rounds, n_arms)) if keep_table else None
    for t in range(rounds):
        dealt = rng_for(environment_keys, t)
        costs = environment.costs(dealing, t, dealt)
        costs = check_costs(costs, (replicates, n_arms), name=f"round {t}: costs")
        features = None if known is None else known(t, dealt)
        choice = pick_round(learner, state, rng_for(learner_keys, t), features)
        paid[:, t] = keep_best(choice.arms, costs)
        totals += costs
        best_arm[:, t] = totals.min(axis=1)
        if table is not None:
            table[:, t] = costs[:copies]
        seen = visible(learner, choice, costs)
        state = learn_round(learner, state, choice, seen, features)
        dealing = environment.react(dealing, choice.arms, costs)
        if report and (t % 64 == 63 or t == rounds - 1):
            report(t + 1)
    return Run(paid, best_arm, totals, table)


def deal(environment: Environment, seed: int = 0) -> FloatArray:
    """(rounds, n_arms) costs that the first replicate of a simulation with this seed meets."""
    if environment.adaptive:
        raise PickbestError(
            "the costs of an adaptive environment depend on the player: there is no table "
            "without one; use simulate"
        )
    table: FloatArray = deal_all(environment, 1, seed).table[0]
    return table
