"""Play learners against an environment, many replicates at once, on any number of processes."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from pickbest.catalog import make_environment, make_learner
from pickbest.core.checks import check_count, check_seed
from pickbest.core.errors import PickbestError
from pickbest.core.features import Features
from pickbest.core.progress import OnStep, progress_bar
from pickbest.core.types import Environment, Learner, check_is_learner, uses_features
from pickbest.core.workers import each_finished
from pickbest.environments import Table, WithFeatures, with_features
from pickbest.environments.tables import Frame
from pickbest.simulation.games import Dealt, deal_all, play, play_dealt
from pickbest.simulation.result import Games, Simulation

Players = Mapping[str, Learner | str] | Sequence[Learner | str] | Learner | str
Costs = Environment | Frame | ArrayLike | Path

# Tables of costs are kept for hindsight up to this many entries.
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


def simulate(
    learners: Players,
    environment: Costs,
    replicates: int = 100,
    seed: int = 0,
    workers: int = 1,
    progress: OnStep | bool = True,
    budget: int | None = None,
    features: Iterable[Features] | None = None,
) -> Simulation:
    """Play every learner in `replicates` independent games, all on the same draws.

    learners: one learner, a list, or a mapping by name. A text ("og:slots=distinct") becomes a
        learner for `budget` arms per round (default 1) and the environment's number of rounds.
    environment: an environment, a table of costs (an array or a data frame), or what
        make_environment takes.
    workers: number of processes. The result does not depend on it.
    progress: whether to show a bar on a terminal after two seconds, or a function to call with
        (done, total).
    features: the features of each round of a table, as `Player.ask` takes them. Learners that
        cannot use features ignore them.

    >>> simulation = simulate(["uniform", "fpml"], "task-3:rounds=40", replicates=10, budget=3)
    >>> 0.8 < simulation.mean_reward("uniform") < 1.0
    True
    """
    check_count("replicates", replicates)
    check_count("workers", workers)
    check_seed(seed)
    environment = _environment(environment)
    if features is not None:
        environment = with_features(environment, features)
    players = _players(learners, environment, budget)
    tables = len(players) if environment.adaptive else 1
    copies = replicates if environment.varies else 1
    keep = tables * copies * environment.rounds * environment.n_arms <= MOST_KEPT
    whole = _Task(players, environment, 0, replicates, seed, keep)
    tasks = [
        replace(whole, first=first, replicates=count)
        for first, count in _split(replicates, workers)
    ]
    shown: AbstractContextManager[OnStep | None] = (
        progress_bar("simulating") if progress is True else nullcontext(progress or None)
    )
    with shown as bar:
        if len(tasks) == 1:
            parts = [_play_share(whole, bar)]
        else:
            found: dict[int, dict[str, Games]] = {}
            for task, part in each_finished(
                _play_share, tasks, workers, lambda one: one.replicates
            ):
                found[task.first] = part
                if bar:
                    bar(len(found), len(tasks))
            parts = [found[task.first] for task in tasks]
    runs = {name: Games.joined([part[name] for part in parts]) for name in players}
    return Simulation(runs, players, environment, replicates, seed)


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


def _split(replicates: int, workers: int) -> list[tuple[int, int]]:
    """Shares of nearly equal size, as (first replicate, count)."""
    bounds = [replicates * k // workers for k in range(workers + 1)]
    return [(a, b - a) for a, b in pairwise(bounds) if b > a]


def _play_share(task: _Task, progress: OnStep | None = None) -> dict[str, Games]:
    runs: dict[str, Games] = {}
    dealt: Dealt | None = None
    rounds, share = task.environment.rounds, (task.replicates, task.seed, task.first)
    if task.keep_tables and not task.environment.adaptive:
        # Oblivious environments deal every learner the same costs: once is enough.
        dealt = deal_all(task.environment, task.replicates, task.seed, task.first)
    for index, (name, learner) in enumerate(task.learners.items()):

        def report(done: int, before: int = index * rounds) -> None:
            if progress:
                progress(before + done, len(task.learners) * rounds)

        told = uses_features(learner) and isinstance(task.environment, WithFeatures)
        if dealt is not None and not told:
            runs[name] = play_dealt(learner, dealt, *share, report)
        else:
            runs[name] = play(learner, task.environment, *share, task.keep_tables, report)
    return runs
