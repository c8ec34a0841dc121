"""What each part of `auto` buys: the whole learner compared with itself without one part.

A part is left out by replacing a constant or a kernel of `pickbest.learners.auto`, in a process of
its own that has compiled nothing before. So the product needs no switches, and what is measured is
the code that people run. Scores are shares of the gap: 0 is B distinct arms at random, 1 the best
fixed set in hindsight.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core import (
    Environment,
    FloatArray,
    IntArray,
    PickbestError,
    check_count,
    unknown_name,
)
from pickbest.core.progress import Progress
from pickbest.environments import Shuffled, Table, WithFeatures, read_scenarios
from pickbest.environments.aslib import RUNTIME, read_scenario
from pickbest.environments.runtimes import read_runtimes
from pickbest.kernels.compiled import inlined
from pickbest.learners.auto.features import FeaturesState
from pickbest.portfolio.run.costs import as_cost
from pickbest.simulation.replay import Races
from pickbest.simulation.simulate import simulate
from pickbest.simulation.statistics import standard_error
from studies.benchmark.shares import LEAST_GAP, references
from studies.cache import Cache, code_digest, key_of
from studies.peers.environments import peer_environments
from studies.races import censoring_rows
from studies.tables import divisions, hints, models, paper_rewards

AUTO = "pickbest.learners.auto"
# All that a cell may run; a change in any of it makes kept cells void.
CODE = (AUTO, "pickbest.simulation.simulate", "pickbest.simulation.replay", __name__)
RACE_BUDGETS, RACE_ROUNDS = (2, 3), 400
RACE_COSTS = ("solved", "runtime")
# How a cell is played: a table round by round, also with features; races whose losers are stopped,
# and races in which every run finishes.
PLAYED, INFORMED, STOPPED, FINISHED = "played", "informed", "stopped", "finished"
RULES = {STOPPED: "intervals", FINISHED: "deadline"}
# Differences are shown with this many standard errors over tables: a 95% interval.
INTERVAL = 1.96


@dataclass(frozen=True, eq=False)
class Part:
    """What is left out of `auto`.

    without: what is replaced, "module.NAME" → a constant or a kernel.
    kinds: of the cells in which it can matter.
    """

    name: str
    without: Mapping[str, object] = field(default_factory=dict)
    kinds: tuple[str, ...] = (PLAYED, STOPPED)


@inlined
def guess_without_factor(factor: float, first: float, second: float) -> float:
    """`guessed_gain` as if the gains seen had been those of independent arms."""
    return min(0.99, first * (1.0 - second))


@inlined
def one_trial(n_arms: int) -> float:
    """`trials_of` as it would be for rewards of 0 and 1 that are taken for what they are."""
    return 1.0


@inlined
def anchor_only(state: object, row: int, budget: int) -> int:
    """`memory_in_use` where nothing is forgotten."""
    return 0


def follow_nobody(state: FeaturesState) -> IntArray:
    """`followed` where features, whose costs are paid all the same, are not looked at."""
    return np.empty(0, np.int64)


WHOLE = Part("nothing", kinds=(PLAYED, INFORMED, STOPPED, FINISHED))
RACED = (STOPPED,)
PARTS = (
    Part("pairs", {"sets.MOST_PAIRED": 0}),
    Part("factor of gains", {"sets.guessed_gain": guess_without_factor}),
    Part("weight of the guess (1 observation, not 16)", {"sets.PRIOR": 1.0}),
    Part("memory that forgets", {"sets.memory_in_use": anchor_only}),
    Part("sharp posteriors (1 trial, not n_arms)", {"sets.trials_of": one_trial}),
    Part("guard (1 round in 1,000, not in 32)", {"guard.FIRST_SHARE": 1e-3}),
    Part("guard's first rate (2, not 1/2)", {"guard.FIRST_RATE": 2.0}),
    Part("guard's doubt (3, not 6)", {"guard.DOUBT": 3.0}),
    Part("four kinds of problems (two)", {"kinds.KINDS": 2}, RACED),
    Part("curves of other arms (as 1/2 run, not 2)", {"kinds.WORTH": 0.5}, RACED),
    Part("kinds that differ at first (e^.3, not e^1.2)", {"kinds.LADDER": 0.3}, RACED),
    Part("least watching (.01, not .03)", {"stopped.LEAST_WATCH": 0.01}, RACED),
    Part("watching new pairs", {"stopped.SURE": 0.0}, RACED),
    Part("features", {"features.followed": follow_nobody}, (INFORMED,)),
)


def leave_out(part: Part) -> None:
    """Replace what the part is made of, wherever `auto` has imported it. For fresh processes."""
    package = import_module(AUTO)
    names = [f"{AUTO}.{found.name}" for found in pkgutil.iter_modules(package.__path__)]
    modules = [package, *map(import_module, names)]
    for place, new in part.without.items():
        home, _, name = place.partition(".")
        old = getattr(import_module(f"{AUTO}.{home}"), name, None)
        if old is None:
            raise PickbestError(f"auto must have {place} for {part.name!r} to be left out of it")
        for module in modules:
            if getattr(module, name, None) is old:
                setattr(module, name, new)


@dataclass(frozen=True, eq=False)
class AblationCell:
    """A table at a budget: played round by round, or raced where `races` are given.

    informed: the environment with features, at what they cost; None where there are none.
    """

    family: str
    table: str
    budget: int
    environment: Environment | None = None
    informed: WithFeatures | None = None
    races: Races | None = None
    cost: str = ""
    kind: str = PLAYED

    @property
    def digest(self) -> str:
        """Of all that it holds."""
        if self.races is not None:
            content: Any = [self.races.times, np.float64(self.races.deadline)]
        else:
            table: Any = getattr(self.environment, "inner", self.environment)
            content = [table.costs_table]
        if self.informed is not None:
            known: Any = getattr(self.informed.inner, "inner", self.informed.inner)
            content += [known.costs_table, self.informed.features]
        game = type(self.environment).__name__
        said = (self.family, self.table, self.budget, self.cost, self.kind, game)
        digest = hashlib.sha256(repr(said).encode())
        for array in content:
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]


def cells_at_hand(data: Path, budgets: Sequence[int]) -> list[AblationCell]:
    """Every table of the folder in its families, at every budget below its number of arms."""
    found = [*_tables(data, budgets), *_races(data), *_informed(data, budgets)]
    if not found:
        raise PickbestError(f"{data}: no table here; studies/tables.py says what a folder may hold")
    return found


def _tables(data: Path, budgets: Sequence[int]) -> Iterator[AblationCell]:
    recorded: list[tuple[str, str, Table]] = []
    shuffled: list[tuple[str, str, Table]] = []
    if (data / "aslib").is_dir():
        for scenario in read_scenarios(data / "aslib"):
            recorded.append(("scenarios, recorded", scenario.name, scenario.costs()))
            shuffled.append(("scenarios, shuffled", scenario.name, scenario.costs()))
    for each in divisions(data):
        table = Table(each.costs(), each.solvers, each.name)
        recorded.append(("divisions, recorded", each.name, table))
    priced = models(data)
    for name, other in (("hints", hints(data)), ("models", priced and priced[0])):
        if other is not None:
            recorded.append(("hints and models", name, other))
    if (paper := paper_rewards(data)) is not None:
        recorded.append(("the paper's rewards", "recorded", paper))
        shuffled.append(("the paper's rewards", "shuffled", paper))
    for family, name, table in (*recorded, *shuffled):
        bare = replace(table, source=name)
        game = Shuffled(bare) if (family, name, table) in shuffled else bare
        for budget in budgets:
            if budget < table.n_arms:
                yield AblationCell(family, name, budget, game)


def _races(data: Path) -> Iterator[AblationCell]:
    """Races over scenarios with runtimes and over divisions: losers stopped, and all finished."""
    paths = sorted((data / "smtcomp22").glob("*.csv"))
    if (data / "aslib").is_dir():
        folders = sorted(path for path in (data / "aslib").iterdir() if path.is_dir())
        paths = [*(path for path in folders if read_scenario(path).kind == RUNTIME), *paths]
    for path in paths:
        table = read_runtimes(path)
        for cost in RACE_COSTS:
            races = Races.of(table, table.cutoff or 1_200.0, as_cost(cost))
            for budget in RACE_BUDGETS:
                if budget < races.n_arms:
                    cell = AblationCell("races", path.stem, budget, races=races, cost=cost)
                    yield replace(cell, kind=STOPPED)
                    yield replace(cell, family="races, all finished", kind=FINISHED)


def _informed(data: Path, budgets: Sequence[int]) -> Iterator[AblationCell]:
    """The tables with features of `studies peers`, in both orders."""
    for place in peer_environments(data):
        if place.informed is not None:
            kind = "divisions" if place.family.startswith("SMT ") else "scenarios"
            for budget in budgets:
                if budget < place.environment.n_arms:
                    family, environment = f"{kind} with features", place.environment
                    cell = AblationCell(family, place.family, budget, environment, place.informed)
                    yield replace(cell, kind=INFORMED)


def half_of(cells: Sequence[AblationCell], half: int | None) -> list[AblationCell]:
    """Every second table of each family, by name: 0 to choose on, 1 to report; None: all."""
    if half is None:
        return list(cells)
    tables: dict[str, list[str]] = {}
    for cell in cells:
        tables.setdefault(cell.family, [])
        if cell.table not in tables[cell.family]:
            tables[cell.family].append(cell.table)
    return [c for c in cells if sorted(tables[c.family]).index(c.table) % 2 == half]


@dataclass(frozen=True, eq=False)
class AblationPlan:
    """What is played. kept: the folder of finished cells."""

    kept: Path
    cells: Sequence[AblationCell]
    parts: Sequence[Part] = PARTS
    replicates: int = 10
    seed: int = 0
    workers: int = 1

    def __post_init__(self) -> None:
        check_count("replicates", self.replicates, least=2)
        check_count("workers", self.workers)

    @property
    def cache(self) -> Cache[list[float]]:
        return Cache(self.kept, json.dumps, json.loads)

    def key(self, part: Part, cell: AblationCell) -> str:
        return key_of({
            "part": {name: getattr(new, "__name__", new) for name, new in part.without.items()},
            "cell": cell.digest,
            "replicates": self.replicates,
            "seed": self.seed,
            "code": code_digest(CODE),
        })  # fmt: skip

    def cells_of(self, part: Part) -> list[AblationCell]:
        """Those that the part can matter in."""
        return [cell for cell in self.cells if cell.kind in part.kinds]


Shares = dict[tuple[str, int], list[float]]
"""By part and number of the cell: the share of each replicate; none where there is no gap."""


def run_ablation(plan: AblationPlan, progress: Progress | None = None) -> Shares:
    """The shares of all cells, with every part and without each; what is kept is not played."""
    variants = (WHOLE, *plan.parts)
    keys = {
        (part.name, number): plan.key(part, cell)
        for part in variants
        for number, cell in enumerate(plan.cells)
        if cell in plan.cells_of(part)
    }
    missing = {
        part: [
            cell for cell in plan.cells_of(part) if plan.cache.read(plan.key(part, cell)) is None
        ]
        for part in variants
    }
    todo = {part: cells for part, cells in missing.items() if cells}
    if plan.workers == 1 and list(todo) == [WHOLE]:
        _play_all(plan, WHOLE, todo[WHOLE])
    elif todo:
        _play_in_processes(plan, todo, progress)
    return {place: plan.cache.read(key) or [] for place, key in keys.items()}


def _play_in_processes(
    plan: AblationPlan, todo: Mapping[Part, Sequence[AblationCell]], progress: Progress | None
) -> None:
    """Each variant in a fresh process, because compiled code keeps the constants that it met."""
    files = [
        plan.kept / f"{plan.key(part, cell)}.json" for part, cells in todo.items() for cell in cells
    ]
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(plan.workers, mp_context=context, max_tasks_per_child=1)
    try:
        bare = replace(plan, cells=())
        left = {pool.submit(_play_all, bare, part, cells) for part, cells in todo.items()}
        while left:
            done, left = wait(left, timeout=1.0)
            for future in done:
                future.result()
            if progress:
                progress(sum(file.exists() for file in files), len(files))
    finally:
        pool.shutdown(cancel_futures=True)


def _play_all(plan: AblationPlan, part: Part, cells: Sequence[AblationCell]) -> None:
    leave_out(part)
    for cell in cells:
        plan.cache.keep(plan.key(part, cell), played(cell, plan.replicates, plan.seed))


def played(cell: AblationCell, replicates: int, seed: int) -> list[float]:
    """The share of the gap of each replicate; empty where there is no gap to speak of."""
    if cell.races is not None:
        rules = (RULES[cell.kind],)
        (row,) = censoring_rows(
            cell.table, cell.races, cell.cost, cell.budget, RACE_ROUNDS, replicates, rules
        )
        shares: list[float] = row["shares"]
        return shares
    environment = cell.environment
    if environment is None:
        raise TypeError("a cell has an environment or races")
    random, best = references(environment, cell.budget, replicates, seed)
    gap = best[0] - random[0]
    if gap < LEAST_GAP:
        return []
    learner = make_learner("auto", environment.n_arms, cell.budget)
    game = cell.informed or environment
    run = simulate({"auto": learner}, game, replicates, seed, progress=False).runs["auto"]
    rewards: FloatArray = 1.0 - run.paid.mean(axis=1)
    found: list[float] = ((rewards - random[0]) / gap).tolist()
    return found


def summary_of(plan: AblationPlan, shares: Shares) -> dict[str, Any]:
    """Shares of `auto` by family, and what each part adds to them, with errors over tables.

    A table counts once, by the mean over its budgets, costs and replicates. `gain` is the share
    with the part minus that without it, paired by table; `tables`: that of each table.
    """
    families = []
    for family in dict.fromkeys(cell.family for cell in plan.cells):
        whole = _by_table(plan, shares, WHOLE, family)
        families.append(
            {
                "family": family,
                "tables": len(whole),
                "share": _mean(list(whole.values())),
                "error": _error(list(whole.values())),
                "parts": [_gain(plan, shares, part, family, whole) for part in plan.parts],
            }
        )
    return {"replicates": plan.replicates, "seed": plan.seed, "families": families}


def _gain(
    plan: AblationPlan, shares: Shares, part: Part, family: str, whole: Mapping[str, float]
) -> dict[str, Any]:
    without = _by_table(plan, shares, part, family)
    by_table = {table: whole[table] - share for table, share in without.items()}
    gains = list(by_table.values())
    return {"part": part.name, "gain": _mean(gains), "error": _error(gains), "tables": by_table}


def _by_table(plan: AblationPlan, shares: Shares, part: Part, family: str) -> dict[str, float]:
    tables: dict[str, list[float]] = {}
    for number, cell in enumerate(plan.cells):
        own = shares.get((part.name, number))
        if cell.family == family and own:
            tables.setdefault(cell.table, []).append(float(np.mean(own)))
    return {table: float(np.mean(values)) for table, values in tables.items()}


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _error(values: Sequence[float]) -> float | None:
    """The standard error over tables; None where there are fewer than two."""
    return standard_error(np.array(values)) if len(values) > 1 else None


def chosen_parts(names: Sequence[str]) -> list[Part]:
    """The parts with these names; all where none is named."""
    known = {part.name: part for part in PARTS}
    for name in names:
        if name not in known:
            raise unknown_name("part", name, known)
    return [part for part in PARTS if not names or part.name in names]
