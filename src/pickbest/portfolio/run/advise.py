"""What a larger or smaller budget would have gained, from the rounds that a portfolio has played.

A journal knows the costs of the arms that ran, not of the others. Where costs are missing
they are filled in twice, each from the arm's own seen costs (weighted, so that rounds in which
it was likely to be picked do not count double): once `independent` of the other arms in the
round, once `alike` (easy problems are easy for every arm). How much a larger budget brings
depends on how differently arms behave, so the two are usually an optimistic and a pessimistic
answer; with every cost seen there is nothing to fill in, and both are exact.

Where arms were stopped because another had answered, the costs that were seen are not typical, and
nothing is filled in: see `estimates`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pickbest import hindsight, theory
from pickbest.catalog import make_learner
from pickbest.core import FloatArray, PickbestError, play_table, replicate_keys
from pickbest.core.codec import SPARSE
from pickbest.portfolio.run.estimates import BudgetEstimate, estimates, sentence, timed_rounds
from pickbest.portfolio.runs import RunStatus
from pickbest.portfolio.store.records import (
    DamagedError,
    Entry,
    Finished,
    Opened,
    Picked,
    check_finished,
    check_picked,
)

REPLICATES = 10
SUBSET_SECONDS = 5.0
LEAST_SEEN = 3


@dataclass(frozen=True)
class Advice:
    """Mean costs a round for one budget.

    best_subset: the best fixed arms in hindsight (best_arms names them); top: the arms with the
    lowest mean costs; learner: the portfolio's learner, played with this budget; promise: what
    Theorem 2 guarantees a learner that sees all costs.
    """

    budget: int
    best_subset: float
    best_arms: tuple[str, ...]
    top: float
    learner: float
    promise: float


@dataclass(frozen=True)
class Advised:
    """Advice for every budget, for each way to fill in costs that were not seen.

    stopped: the share of runs that were stopped because another arm had answered; where there are
        any, nothing is filled in, and there are `estimates` and the `advice` in one sentence.
    """

    arms: tuple[str, ...]
    rounds: int
    seen: float
    budget: int
    fills: dict[str, tuple[Advice, ...]]
    stopped: float = field(default=0.0, metadata=SPARSE)
    estimates: tuple[BudgetEstimate, ...] = field(default=(), metadata=SPARSE)
    advice: str = field(default="", metadata=SPARSE)


def seen_costs(entries: Sequence[Entry]) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
    """(arms, costs, weights), both (rounds, arms); NaN where a cost is not known."""
    opened: dict[int, Picked] = {}
    seen: list[tuple[int, str, float, float]] = []
    rounds = 0
    for record in (entry.record for entry in entries):
        if isinstance(record, Picked):
            opened[record.round] = record
        elif isinstance(record, Finished):
            picked = opened.get(record.round)
            if picked is None:
                raise DamagedError(f"round {record.round} is finished, but was never opened")
            check_picked(picked, picked.arms, len(picked.arms))
            check_finished(record, picked)
            weights = picked.weights or (1.0,) * len(picked.arms)
            for run, weight in zip(record.runs, weights, strict=True):
                if run.cost is not None:
                    seen.append((rounds, run.arm, run.cost, weight))
            rounds += 1
    arms = tuple(dict.fromkeys(arm for _, arm, _, _ in seen))
    costs, weighed = np.full((2, rounds, len(arms)), np.nan)
    for place, arm, cost, weight in seen:
        costs[place, arms.index(arm)], weighed[place, arms.index(arm)] = cost, weight
    return arms, costs, weighed


def advise(entries: Sequence[Entry], budget: int, seed: int = 0) -> Advised:
    """Advice from a journal, over the arms of which enough is known."""
    settings = next((e.record for e in entries if isinstance(e.record, Opened)), None)
    arms, costs, weights = seen_costs(entries)
    runs = [run for e in entries if isinstance(e.record, Finished) for run in e.record.runs]
    stopped = sum(run.status is RunStatus.STOPPED for run in runs) / max(len(runs), 1)
    if stopped and (rounds := timed_rounds(entries)) is not None:
        found = estimates(rounds, seed)
        share = float((~np.isnan(costs)).mean())
        said = sentence(found, budget, rounds.timed)
        return Advised(rounds.names, len(costs), share, budget, {}, stopped, found, said)
    known = np.flatnonzero((~np.isnan(costs)).sum(axis=0) >= LEAST_SEEN)
    if settings is None or len(known) == 0:
        raise PickbestError(
            f"advice needs arms whose cost is known from at least {LEAST_SEEN} rounds; play more"
        )
    names = tuple(arms[place] for place in known)
    costs, weights = costs[:, known], weights[:, known]
    share = float((~np.isnan(costs)).mean())
    rng = np.random.default_rng(seed)
    ways = ("seen",) if share == 1.0 else ("independent", "alike")
    fills = {
        way: tuple(
            _advice(filled, names, size, settings)
            for filled in [_filled(costs, weights, way, rng)]
            for size in range(1, len(names) + 1)
        )
        for way in ways
    }
    return Advised(names, len(costs), share, budget, fills, stopped)


def _advice(table: FloatArray, arms: Sequence[str], budget: int, settings: Opened) -> Advice:
    rounds, n_arms = table.shape
    best = hindsight.best_subset(table, budget, time_limit=SUBSET_SECONDS)
    single = hindsight.best_arm(table).mean_cost(rounds)
    regret = theory.fpml_regret_bound(n_arms=n_arms, budget=budget, rounds=rounds) / rounds
    named, top = tuple(arms[arm] for arm in best.arms), hindsight.top_arms(table, budget)
    promise = min(1.0, single + (regret if budget < n_arms else 0.0))
    played = _played(table, budget, settings)
    return Advice(budget, best.mean_cost(rounds), named, top.mean_cost(rounds), played, promise)


def _played(table: FloatArray, budget: int, settings: Opened) -> float:
    learner = make_learner(
        settings.learner, table.shape[1], budget, settings.rounds, **dict(settings.options)
    )
    keys = replicate_keys(settings.seed, REPLICATES)
    state = learner.start(REPLICATES)
    _, paid = play_table(learner, state, np.ascontiguousarray(table[None]), keys, 0)
    return float(paid.mean())


def _filled(
    costs: FloatArray, weights: FloatArray, way: str, rng: np.random.Generator
) -> FloatArray:
    """The table with every gap filled from its arm's own seen costs."""
    missing = np.isnan(costs)
    ranks = np.full_like(costs, np.nan)
    for arm in range(costs.shape[1]):
        seen = ~missing[:, arm]
        ranks[seen, arm] = _ranks(costs[seen, arm], weights[seen, arm], rng)
    unseen = np.asarray(missing.all(axis=1))
    hardness = np.nanmean(np.where(unseen[:, None], 0.5, ranks), axis=1)
    filled = costs.copy()
    for arm in range(costs.shape[1]):
        gaps = missing[:, arm]
        levels = hardness[gaps] if way == "alike" else rng.random(int(gaps.sum()))
        filled[gaps, arm] = weighted_quantiles(costs[~gaps, arm], weights[~gaps, arm], levels)
    return filled


def _ranks(values: FloatArray, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Where each value stands in its weighted law, in (0, 1); ties in random order."""
    order = np.lexsort((rng.random(len(values)), values))
    mass = np.cumsum(weights[order])
    ranks = np.empty(len(values))
    ranks[order] = (mass - 0.5 * weights[order]) / mass[-1]
    return ranks


def weighted_quantiles(values: FloatArray, weights: FloatArray, levels: FloatArray) -> FloatArray:
    """The values at these levels of their weighted law."""
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weights[order])
    places = np.searchsorted(mass / mass[-1], levels, side="left")
    result: FloatArray = values[order][np.minimum(places, len(values) - 1)]
    return result
