"""Play every cell that is not kept yet: environments and budgets in parallel, learners together."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

from pickbest.catalog import describe
from pickbest.core import Environment, Learner, PickbestError, check_count, check_seed
from pickbest.core.codec import decode, encode
from pickbest.core.workers import each_finished
from pickbest.simulation.simulate import simulate
from studies.benchmark.environments import NamedEnvironment
from studies.benchmark.lineup import Entry, make_entry
from studies.benchmark.shares import Cell, Result, references
from studies.cache import Cache, code_digest, key_of, modules_of

# Raise it when what a cell holds changes its meaning.
FORMAT = 1

# finished(done, total), in rounds of learners.
Finished = Callable[[int, int], None]


@dataclass(frozen=True)
class BenchmarkPlan:
    """What a benchmark is asked to do; `kept` is the folder of finished cells."""

    kept: Path
    environments: Sequence[NamedEnvironment]
    entries: Sequence[Entry]
    budgets: Sequence[int] = (1, 2, 3, 4, 5, 6)
    replicates: int = 100
    seed: int = 0
    workers: int = 1

    def __post_init__(self) -> None:
        check_count("replicates", self.replicates, least=2)
        check_count("workers", self.workers)
        check_seed(self.seed)
        for budget in self.budgets:
            check_count("budget", budget)

    @property
    def cache(self) -> Cache[Result]:
        return Cache(self.kept, encode, partial(decode, Result))


@dataclass(frozen=True, eq=False)
class Unit:
    """An environment at a budget, with its features or without.

    keys: of the learners that can play there, by label. learners: those to play, by key.
    """

    place: NamedEnvironment
    environment: Environment
    budget: int
    keys: Mapping[str, str]
    learners: Mapping[str, Learner]
    replicates: int
    seed: int

    @property
    def work(self) -> int:
        return self.environment.rounds * len(self.learners)


def run_cells(plan: BenchmarkPlan, finished: Finished | None = None) -> list[Cell]:
    """All cells of a plan, in its order, from what is kept or played anew."""
    units = list(_units(plan))
    if not units:
        raise PickbestError(
            "no learner can play there: every budget must be below the number of arms of an "
            "environment"
        )
    kept = {key: plan.cache.read(key) for unit in units for key in unit.learners}
    found = {key: result for key, result in kept.items() if result is not None}
    missing = [
        replace(unit, learners={k: own for k, own in unit.learners.items() if k not in found})
        for unit in units
    ]
    left = [unit for unit in missing if unit.learners]
    done, total = 0, sum(unit.work for unit in left)
    for unit, played in each_finished(play_unit, left, plan.workers, lambda one: one.work):
        for key, result in played.items():
            plan.cache.keep(key, result)
        found |= played
        done += unit.work
        if finished:
            finished(done, total)
    return [
        Cell(unit.place, unit.budget, label, found[key])
        for unit in units
        for label, key in unit.keys.items()
    ]


def _units(plan: BenchmarkPlan) -> Iterator[Unit]:
    """Every environment and budget below its number of arms at which a learner can play."""
    for place, budget, informed in product(plan.environments, plan.budgets, (False, True)):
        if budget >= place.environment.n_arms:
            continue
        environment = place.informed if informed and place.informed else place.environment
        keys: dict[str, str] = {}
        learners: dict[str, Learner] = {}
        for entry in plan.entries:
            if entry.features is not informed:
                continue
            if (learner := make_entry(entry, environment, budget)) is not None:
                key = cell_key(environment, learner, plan.replicates, plan.seed)
                keys[entry.label], learners[key] = key, learner
        if keys:
            yield Unit(place, environment, budget, keys, learners, plan.replicates, plan.seed)


def cell_key(environment: Environment, learner: Learner, replicates: int, seed: int) -> str:
    """What a kept result is valid for: costs, learner and their code, replicates and seed."""
    return key_of(
        {
            "format": FORMAT,
            "environment": describe(environment),
            "learner": describe(learner),
            "code": code_digest(modules_of(environment) | modules_of(learner)),
            "replicates": replicates,
            "seed": seed,
        }
    )


def play_unit(unit: Unit) -> dict[str, Result]:
    """All learners of a unit on the same draws."""
    environment = unit.environment
    finishes = [time.process_time()]

    def clock(done: int, total: int) -> None:
        if done % environment.rounds == 0:
            finishes.append(time.process_time())

    played = simulate(
        unit.learners, environment, unit.replicates, unit.seed, workers=1, progress=clock
    )
    random, best = references(unit.place.environment, unit.budget, unit.replicates, unit.seed)
    results = {}
    for index, (key, run) in enumerate(played.runs.items()):
        best_arm = 1.0 - run.best_arm[:, -1] / environment.rounds
        results[key] = Result(
            rewards=tuple((1.0 - run.paid.mean(axis=1)).tolist()),
            best_arm=tuple(best_arm.tolist()) if environment.varies else (float(best_arm[0]),),
            random=random,
            best=best,
            seconds=finishes[index + 1] - finishes[index],
        )
    return results
