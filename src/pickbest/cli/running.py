"""What the commands do: from the words of a command line to results as plain data."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pickbest import theory
from pickbest.catalog import applicable, learner_entry, make_environment, make_learner
from pickbest.core import (
    Learner,
    PickbestError,
    check_budget,
    unknown_name,
)
from pickbest.environments import Table, read_past
from pickbest.learners import Warm
from pickbest.report.summaries import bounds_summary, hindsight_summary, simulation_summary
from pickbest.simulation.simulate import Progress, deal
from pickbest.simulation.simulate import simulate as run_simulation


def simulate(
    *,
    table: str,
    learners: Sequence[str],
    budget: int,
    rewards: bool,
    replicates: int,
    seed: int,
    options: Mapping[str, Any],
    unknown_rounds: bool,
    target_budget: int | None,
    warm: Path | None,
    rounds: int | None,
    n_arms: int | None,
    workers: int,
    plot: Path | None,
    out: Path | None,
) -> dict[str, Any]:
    """`pickbest simulate`."""
    from pickbest.report import plots

    if plot is not None:
        plots.check_plot_path(plot)
    if out is not None and out.suffix not in {".csv", ".parquet"}:
        raise PickbestError(f"{out}: results must go to a .csv or .parquet file")
    environment = make_environment(table, rewards, rounds, n_arms)
    if target_budget is not None:
        check_budget(target_budget, environment.n_arms)
    horizon = None if unknown_rounds else environment.rounds
    given = {name: value for name, value in options.items() if value is not None}
    players = _players(learners, environment.n_arms, budget, horizon, given)
    if warm is not None:
        names = environment.arm_names if isinstance(environment, Table) else ()
        past = read_past(warm, rewards, names)
        players = {label: Warm(player, past) for label, player in players.items()}
    with progress_bar("simulating") as progress:
        simulation = run_simulation(players, environment, replicates, seed, workers, progress)
    if plot is not None:
        plots.plot_regret(simulation, plot)
    if out is not None:
        (simulation.to_csv if out.suffix == ".csv" else simulation.to_parquet)(out)
    return simulation_summary(simulation, table, target_budget)


def _players(
    specs: Sequence[str],
    n_arms: int,
    budget: int,
    rounds: int | None,
    shared: Mapping[str, Any],
) -> dict[str, Learner]:
    """Learners by label. Shared options go to those learners that take them."""
    players: dict[str, Learner] = {}
    used: set[str] = set()
    for spec in specs:
        if spec in players:
            raise PickbestError(f"--learner {spec} is given twice")
        name, own = _parse(spec)
        entry = learner_entry(name)
        merged = applicable(name, shared)
        if shared.get("tuning") in entry.tunings:
            merged["tuning"] = shared["tuning"]
        used |= merged.keys()
        players[spec] = make_learner(name, n_arms, budget, rounds, **{**merged, **own})
    for option in shared.keys() - used:
        if option == "tuning":
            known = [t for spec in specs for t in learner_entry(_parse(spec)[0]).tunings]
            raise unknown_name("tuning", shared[option], known)
        flag = option.replace("_", "-")
        raise PickbestError(f"--{flag} does not apply to {', '.join(specs)}")
    return players


def _parse(spec: str) -> tuple[str, dict[str, Any]]:
    """'og-hybrid:slot_budget=2,slots=distinct' as a name and options."""
    name, _, rest = spec.partition(":")
    options: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise PickbestError(f"options of a learner must be key=value, got {part!r} in {spec!r}")
        options[key.strip()] = _value(value.strip())
    return name, options


def _value(text: str) -> Any:
    if "+" in text:
        return tuple(_value(part) for part in text.split("+"))
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def hindsight(
    table: str,
    budget: int,
    rewards: bool,
    time_limit: float | None,
    seed: int,
    rounds: int | None,
    n_arms: int | None,
) -> dict[str, Any]:
    """`pickbest hindsight`."""
    environment = make_environment(table, rewards, rounds, n_arms)
    return hindsight_summary(environment, deal(environment, seed), budget, table, time_limit)


def bounds(
    n_arms: int,
    budget: int,
    rounds: int,
    slot_budget: int,
    target_budget: int,
    regret: float | None,
) -> dict[str, Any]:
    """`pickbest bounds`."""
    summary = bounds_summary(n_arms, budget, rounds, slot_budget, target_budget)
    if regret is not None:
        needed = theory.budget_for_regret(n_arms=n_arms, rounds=rounds, regret=regret)
        summary["budget_for_regret"] = {"regret": regret, "budget": needed}
    return summary


def feasible(
    *, files: Sequence[Path], sets: Mapping[str, Any], out: Path | None, **options: Any
) -> dict[str, Any]:
    """`pickbest feasible`. sets: what says where x may lie; options: of solve_feasibility."""
    from pickbest.feasibility import solve_feasibility
    from pickbest.feasibility.problems import feasibility_summary, read_files, write_solution

    if out is not None and out.suffix != ".csv":
        raise PickbestError(f"{out}: x must go to a .csv file")
    problem = read_files(files, **sets)
    with progress_bar("asking the oracle") as progress:
        found = solve_feasibility(
            problem.A, problem.b, problem.convex, progress=progress, **options
        )
    if out is not None and found.x is not None:
        write_solution(problem, found.x, out)
    return feasibility_summary(problem, found)


@contextmanager
def progress_bar(what: str) -> Iterator[Progress | None]:
    """A bar with the time left on a terminal; nothing where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
