"""What learning from races is worth, over tables of runtimes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core import Learner, PickbestError
from pickbest.core.progress import Progress
from pickbest.environments.runtimes import read_runtimes
from pickbest.learners.auto import Schedules, racing
from pickbest.portfolio.run.costs import as_cost
from pickbest.simulation.replay import (
    Races,
    Replay,
    best_fixed,
    orders,
    random_costs,
    random_sets,
    replay,
)
from pickbest.simulation.statistics import standard_error
from studies.peers.bandits import CensoredThompson

COSTS = ("solved", "runtime")
RULES = {
    "deadline": None,
    "intervals": 1.0,
    "intervals, 1/4": 0.25,
    "unwatched": 0.0,
    "censored Thompson": 1.0,
}
# Of processor time, and the most arms that run at a time.
PRICES, MOST = (0.0, 0.1, 0.3, 1.0), 4
Row = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """What is played. deadline: of tables that do not say their own, in seconds."""

    rounds: int = 400
    replicates: int = 10
    costs: tuple[str, ...] = COSTS
    deadline: float = 1200.0


def censoring_rows(
    name: str,
    races: Races,
    cost: str,
    budget: int,
    rounds: int,
    replicates: int,
    rules: Sequence[str] = tuple(RULES),
) -> Iterator[Row]:
    """Each rule's share of the gap between random sets and the best, and its processor time."""
    order = orders(len(races.times), rounds, replicates, 0)
    gap = random_sets(races, budget).mean_cost - best_fixed(races, budget).mean_cost
    random = random_costs(races, budget)[order].mean(axis=1)
    for rule in rules:
        played = replay(races, _learner(rule, races, cost, budget), RULES[rule], order)
        shares = (random - played.paid.mean(axis=1)) / gap
        yield {
            "table": name,
            "cost": cost,
            "budget": budget,
            "rule": rule,
            "rounds": rounds,
            "share": float(shares.mean()),
            "error": standard_error(shares),
            "shares": shares.tolist(),
            **_means(played, races),
        }


def price_rows(name: str, races: Races, cost: str, rounds: int, replicates: int) -> Iterator[Row]:
    """Auto with every fixed budget, and learned schedules at every price."""
    order = orders(len(races.times), rounds, replicates, 0)
    said = {"table": name, "cost": cost}
    for budget in range(1, min(MOST, races.n_arms) + 1):
        learner = racing(make_learner("auto", races.n_arms, budget))
        played = replay(races, learner, RULES["intervals"], order)
        for price in PRICES:
            yield {**said, "rule": f"auto, B = {budget}", **_priced(played, races, price)}
    for price in PRICES:
        planner = Schedules(races.n_arms, min(MOST, races.n_arms), price=price, cost=cost)
        played = replay(races, planner, None, order)
        staged = float((played.arms[..., 0] >= 0).mean())
        yield {**said, "rule": "schedules", "staged": staged, **_priced(played, races, price)}


def _priced(played: Replay, races: Races, price: float) -> Row:
    """totals: of each order."""
    totals = (played.paid + price * played.cpu_seconds / races.deadline).mean(axis=1)
    return {
        "price": price,
        "total": float(totals.mean()),
        "totals": totals.tolist(),
        **_means(played, races),
    }


def _means(played: Replay, races: Races) -> Row:
    """Of the cost, of processor time as a share of the deadline, and of problems solved."""
    return {
        "paid": float(played.paid.mean()),
        "cpu": float(played.cpu_seconds.mean()) / races.deadline,
        "solved": float(played.solved.mean()),
    }


def _learner(rule: str, races: Races, cost: str, budget: int) -> Learner:
    if rule == "censored Thompson":
        return CensoredThompson(races.n_arms, budget, penalty=1.0, timed=cost == "runtime")
    return racing(make_learner("auto", races.n_arms, budget))


def summary_of(rows: Sequence[Row]) -> list[Row]:
    """Means over cells, for every rule (and price); and in how many cells it is worse than random.

    With prices, `beside` compares the total with that of the best fixed budget of all tables.
    """
    groups: dict[tuple[str, float | None], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["rule"], row.get("price")), []).append(row)
    found = []
    for (rule, price), own in groups.items():
        shown: Row = {"rule": rule, "cells": len(own)}
        if price is None:
            shown["share"] = _mean(own, "share")
            shown["worse_than_random"] = sum(one["share"] < -2.0 * one["error"] for one in own)
        else:
            fixed = [_mean(all_of, "total") for (name, at), all_of in groups.items()
                     if at == price and name != "schedules"]  # fmt: skip
            shown |= {"price": price, "total": _mean(own, "total")}
            shown["beside"] = shown["total"] / min(fixed) - 1.0
        found.append({**shown, **{key: _mean(own, key) for key in ("paid", "cpu", "solved")}})
    return found


def _mean(rows: Sequence[Row], key: str) -> float:
    return float(np.mean([row[key] for row in rows]))


def play(
    tables: Sequence[Path],
    out: Path,
    study: str,
    options: Options,
    progress: Progress | None = None,
) -> list[Row]:
    """All rows of the study, of which those that `out` holds are not played again."""
    rows = read_rows(out)
    done = {row["key"] for row in rows}
    keys = []
    cells = [
        (path, cost, budget)
        for path in tables
        for cost in options.costs
        for budget in ((2, 3) if study == "censoring" else (0,))
    ]
    for number, (path, cost, budget) in enumerate(cells, start=1):
        table = read_runtimes(path)
        races = Races.of(table, table.cutoff or options.deadline, as_cost(cost))
        key = f"{path.stem}, {cost}, {budget}, {options}"
        keys.append(key)
        if key not in done and budget < races.n_arms:
            shape = (options.rounds, options.replicates)
            played = (
                censoring_rows(path.stem, races, cost, budget, *shape)
                if study == "censoring"
                else price_rows(path.stem, races, cost, *shape)
            )
            new = [{"key": key, **row} for row in played]
            with out.open("a") as file:
                file.write("".join(f"{json.dumps(row)}\n" for row in new))
            rows += new
        if progress:
            progress(number, len(cells), f"{path.stem}, {cost}")
    return [row for row in rows if row["key"] in keys]


def read_rows(path: Path) -> list[Row]:
    """What an earlier run has played; none where there is no file."""
    if not path.exists():
        return []
    try:
        return [json.loads(line) for line in path.read_text().splitlines()]
    except ValueError as error:
        raise PickbestError(f"{path}: every line must be a JSON object ({error})") from error
