"""Play learners against an environment, many replicates at once, on any number of processes."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from pickbest.catalog import make_environment, make_learner
from pickbest.core.checks import check_count, check_seed
from pickbest.core.errors import PickbestError, unknown_name
from pickbest.core.features import Features
from pickbest.core.progress import progress_bar
from pickbest.core.types import (
    Environment,
    Learner,
    check_is_learner,
    uses_features,
)
from pickbest.core.workers import each_finished, start_ray
from pickbest.core.wrapping import WrappingEnvironment
from pickbest.environments import Table, WithFeatures, with_features
from pickbest.environments.tables import Frame
from pickbest.simulation.games import Dealt, deal_all, play, play_dealt
from pickbest.simulation.result import Run, Simulation

Progress = Callable[[int, int], None]
Players = Mapping[str, Learner | str] | Sequence[Learner | str] | Learner | str
Costs = Environment | Frame | ArrayLike | Path

ENGINES = ("processes", "ray")
# Shorter runs show no bar.
QUIET_SECONDS = 2.0

# Until spawned processes have imported and loaded what is compiled: 1.3 to 1.6 s in eight runs
# where two had two cores of their own.
START_SECONDS = 1.5
# Long enough to be timed.
TRIAL_SECONDS = 0.05

# Tables of costs are kept for hindsight up to this many entries a learner or run.
MOST_KEPT = 50_000_000


@dataclass(frozen=True)
class FirstRounds(WrappingEnvironment):
    """The first rounds of an environment."""

    inner: Environment
    first: int

    @property
    def rounds(self) -> int:
        return self.first


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
    budget: int | None = None,
    features: Iterable[Features] | None = None,
) -> Simulation:
    """Play every learner in `replicates` independent games, all on the same draws.

    learners: by name, in a list, or one; each a learner or a text ("og:slots=distinct"), which
        is built for `budget` arms a round (1 if it is left out) and the number of rounds.
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
    if engine == "processes":
        workers = processes_that_pay(workers, replicates, environment.rounds, whole.seconds)
    tasks = [
        replace(whole, first=first, replicates=count)
        for first, count in _split(replicates, workers)
    ]
    total = len(players) * environment.rounds * len(tasks)
    with _bar(progress) as bar:
        if len(tasks) == 1 and engine == "processes":
            parts = [_play_share(tasks[0], bar, total)]
        else:
            parts = _play_elsewhere(tasks, engine, bar, total)
    runs = {name: Run.joined([part[name] for part in parts]) for name in players}
    return Simulation(runs, players, environment, replicates, seed)


def _bar(progress: Progress | bool | None) -> AbstractContextManager[Progress | None]:
    """What shows how far a simulation is; see `simulate`."""
    if progress is True:
        return progress_bar("simulating", after=QUIET_SECONDS)
    return nullcontext(progress or None)


def _play_elsewhere(
    tasks: list[_Task], engine: str, progress: Progress | None, total: int
) -> list[dict[str, Run]]:
    """The shares, each in a process of its own, here or on a cluster."""
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


def _players(learners: Players, environment: Environment, budget: int | None) -> dict[str, Learner]:
    if isinstance(learners, str) or not isinstance(learners, Mapping | Sequence):
        learners = [learners]
    if not isinstance(learners, Mapping):
        names = [text if isinstance(text, str) else type(text).__name__ for text in learners]
        if len(set(names)) < len(names):
            raise PickbestError(f"learners of a list must differ in name, got {', '.join(names)}")
        learners = dict(zip(names, learners, strict=True))
    game: dict[str, Any] = {"n_arms": environment.n_arms, "rounds": environment.rounds}
    players = {
        name: make_learner(given, budget=budget or 1, **game)
        if isinstance(given, str)
        else check_is_learner(given)
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
        if budget not in (None, learner.budget):
            raise PickbestError(
                f"learner {name!r} has budget={learner.budget}, but budget={budget} was asked for: "
                "leave it out, or make the learner for it"
            )
    return players


def processes_that_pay(
    workers: int, replicates: int, rounds: int, seconds: Callable[[int, int], float]
) -> int:
    """As many as wanted and useful, or 1 where starting them takes longer than they save.

    seconds(replicates, rounds): plays so much, and says how long it took.
    """
    useful = min(workers, os.cpu_count() or 1, replicates)
    if useful == 1:
        return 1
    seconds(1, 1)  # compiles
    tried, took = 1, 0.0
    while took < TRIAL_SECONDS and tried < rounds:
        tried = min(8 * tried, rounds)
        took = seconds(replicates, tried)
    if took * rounds / tried <= START_SECONDS:
        return 1
    # Replicates share much of the work of a round that is not compiled: a share is timed, too.
    share = seconds(-(-replicates // useful), tried)
    return useful if START_SECONDS + share * rounds / tried < took * rounds / tried else 1


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
        told = uses_features(learner) and isinstance(task.environment, WithFeatures)
        if dealt is not None and not told:
            runs[name] = play_dealt(learner, dealt, *share, report)
        else:
            runs[name] = play(learner, task.environment, *share, task.keep_tables, report)
    return runs
