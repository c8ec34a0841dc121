"""Which language models to call: quality against money, over problems that a verifier can check.

A table says which share of attempts of each model was right on each problem. A replicate draws one
attempt of each: right or wrong, which the verifier tells. Whoever calls models pays, per problem,
cost + trade · Σ price: the cost is 0 if an answer was right, else 1; prices are in units of 100
dollars per million tokens. They are approximate (data/models/README.md): good enough for a study
of trade-offs, and for nothing else.

A `Router` decides call by call, so a fixed set, a cascade, a learner with a fixed budget and one
that asks whether another call is worth its price (`learners.calls`) are all played alike. With
features, learners know the number of the question that a problem is a sample of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core import FloatArray, IntArray, check_count, replicate_keys, rng_for
from pickbest.core.progress import Progress
from pickbest.environments import Table
from pickbest.learners import Calls
from pickbest.player import Player
from pickbest.simulation.statistics import half_width, standard_error

DOLLARS = 100.0
BUDGETS = (1, 2, 3)
TRADES = (0.0, 0.1, 0.3, 1.0)
ORDERS = ("recorded", "shuffled")
# Learners that pick a fixed number of models, told what each call costs with its price.
LEARNERS = {"auto": "auto", "Thompson": "thompson", "LinUCB": "studies.peers.bandits:LinUCB"}


class Router(Protocol):
    """Chooses which models to call for one problem after another."""

    def call(self, seen: Mapping[int, float]) -> int | None:
        """The model to call next, given the costs of those called so far; None: no more."""
        ...

    def learn(self, seen: Mapping[int, float]) -> None:
        """The problem is over, with these costs of the models called."""
        ...


@dataclass(frozen=True)
class FixedSet:
    """The same models for every problem."""

    models: Sequence[int]

    def call(self, seen: Mapping[int, float]) -> int | None:
        return next((model for model in self.models if model not in seen), None)

    def learn(self, seen: Mapping[int, float]) -> None:
        """It knows all that it needs."""


@dataclass(frozen=True)
class Cascade(FixedSet):
    """The models in turn, until one is right."""

    def call(self, seen: Mapping[int, float]) -> int | None:
        return None if 0.0 in seen.values() else super().call(seen)


class Learned:
    """A learner with a fixed budget, told cost + trade · price of each call, scaled to [0, 1]."""

    def __init__(
        self,
        spec: str,
        budget: int,
        prices: FloatArray,
        trade: float,
        rounds: int,
        seed: int,
        features: FloatArray | None = None,
    ) -> None:
        learner = make_learner(spec, len(prices), budget, rounds)
        self._player = Player(learner, seed)
        self._paid = trade * prices
        self._largest = 1.0 + float(self._paid.max())
        self._features = iter([] if features is None else features)
        self._ticket = self._player.ask(features=next(self._features, None))

    def call(self, seen: Mapping[int, float]) -> int | None:
        return next((model for model in self._ticket.arms if model not in seen), None)

    def learn(self, seen: Mapping[int, float]) -> None:
        told = {model: (cost + self._paid[model]) / self._largest for model, cost in seen.items()}
        self._player.tell(self._ticket, told)
        self._ticket = self._player.ask(features=next(self._features, None))


class Adaptive:
    """At most `budget` calls, at once or one after another, each if it is worth its price."""

    def __init__(
        self,
        budget: int,
        prices: FloatArray,
        trade: float,
        seed: int,
        cascade: bool,
        features: FloatArray | None = None,
    ) -> None:
        self._learner = Calls(len(prices), budget, tuple(prices.tolist()), trade, cascade)
        self._state = self._learner.start(1, 0 if features is None else features.shape[1])
        self._keys, self._drawn, self._round = replicate_keys(seed, 1), 0, 0
        self._features, self._waiting = features, list[int]()

    def call(self, seen: Mapping[int, float]) -> int | None:
        if not self._waiting and (self._learner.cascade or not seen):
            known = np.array(list(seen)), np.array(list(seen.values()))
            draws = rng_for(self._keys, self._drawn)
            self._drawn += 1
            found = self._learner.calls(self._state, draws, self._known(), *(known if seen else ()))
            self._waiting = list(found)
        return self._waiting.pop(0) if self._waiting else None

    def learn(self, seen: Mapping[int, float]) -> None:
        arms, costs = np.array(list(seen)), np.array(list(seen.values()))
        self._learner.learn_calls(self._state, 0, arms, costs, self._known())
        self._round += 1

    def _known(self) -> FloatArray | None:
        return None if self._features is None else self._features[self._round : self._round + 1]


@dataclass(frozen=True)
class Paid:
    """Means over the problems of a replicate."""

    cost: float
    price: float
    calls: float

    def total(self, trade: float) -> float:
        return self.cost + trade * self.price


def play(router: Router, costs: FloatArray, prices: FloatArray) -> Paid:
    """One problem after another. costs: (problems, models), 0 or 1."""
    cost = price = calls = 0.0
    for row in costs:
        seen: dict[int, float] = {}
        while (model := router.call(seen)) is not None:
            seen[model] = float(row[model])
            price += float(prices[model])
        router.learn(seen)
        cost += min(seen.values(), default=1.0)
        calls += len(seen)
    return Paid(cost / len(costs), price / len(costs), calls / len(costs))


def drawn(table: Table, order: str, replicate: int, seed: int) -> tuple[FloatArray, IntArray]:
    """(the attempts of a replicate as costs of 0 and 1, which problem each row is)."""
    rng = np.random.default_rng([seed, replicate])
    costs = (rng.random(table.costs_table.shape) < table.costs_table).astype(np.float64)
    places = rng.permutation(len(costs)) if order == "shuffled" else np.arange(len(costs))
    return costs[places], places


# In hindsight ---------------------------------------------------------------------------------


def best_set(wrong: FloatArray, prices: FloatArray, budget: int, trade: float) -> IntArray:
    """The set of `budget` models that pays least. wrong: (problems, models) shares of attempts."""
    sets = np.array(list(combinations(range(wrong.shape[1]), budget)))
    costs = np.ones((len(wrong), len(sets)))
    for place in range(budget):
        costs *= wrong[:, sets[:, place]]
    totals = costs.mean(axis=0) + trade * prices[sets].sum(axis=1)
    best: IntArray = sets[int(np.argmin(totals))]
    return best


def best_cascade(wrong: FloatArray, prices: FloatArray, budget: int, trade: float) -> IntArray:
    """The cascade of `budget` models, the cheapest first, that pays least."""
    by_price = np.argsort(prices, kind="stable")
    sets = by_price[np.array(list(combinations(range(len(prices)), budget)))]
    left, totals = np.ones((len(wrong), len(sets))), np.zeros(len(sets))
    for place in range(budget):
        totals += trade * prices[sets[:, place]] * left.mean(axis=0)
        left *= wrong[:, sets[:, place]]
    best: IntArray = sets[int(np.argmin(totals + left.mean(axis=0)))]
    return best


def routers(
    table: Table,
    prices: FloatArray,
    budget: int,
    trade: float,
    replicate: int,
    seed: int,
    features: FloatArray | None = None,
) -> Iterator[tuple[str, Router]]:
    """All contenders at a budget, by name."""
    wrong = table.costs_table
    yield "best fixed set", FixedSet(best_set(wrong, prices, budget, trade).tolist())
    yield "best fixed cascade", Cascade(best_cascade(wrong, prices, budget, trade).tolist())
    yield "cascade of the cheapest", Cascade(np.argsort(prices, kind="stable")[:budget].tolist())
    own = seed + 1 + replicate
    for name, spec in LEARNERS.items():
        yield name, Learned(spec, budget, prices, trade, table.rounds, own)
    yield "adaptive set", Adaptive(budget, prices, trade, own, False)
    yield "adaptive cascade", Adaptive(budget, prices, trade, own, True)
    if features is not None:
        for name in ("auto", "LinUCB"):
            learned = Learned(LEARNERS[name], budget, prices, trade, table.rounds, own, features)
            yield f"{name}, features", learned
        yield "adaptive cascade, features", Adaptive(budget, prices, trade, own, True, features)


def models_study(
    table: Table,
    dollars: FloatArray,
    trades: Sequence[float] = TRADES,
    budgets: Sequence[int] = BUDGETS,
    replicates: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
    features: FloatArray | None = None,
) -> list[dict[str, Any]]:
    """Every contender at every order, trade and budget: what it pays, and with which quality.

    `more` is what it pays more than the best fixed choice (set or cascade, of any of the budgets,
    known only in hindsight) on the same draws, with its standard error over replicates.
    """
    check_count("replicates", replicates, least=2)
    prices = dollars / DOLLARS
    games = [(order, trade) for order in ORDERS for trade in trades]
    rows: list[dict[str, Any]] = []
    for done, (order, trade) in enumerate(games):
        found: dict[tuple[str, int], list[Paid]] = {}
        for replicate in range(replicates):
            costs, places = drawn(table, order, replicate, seed)
            known = None if features is None else features[places]
            for budget in budgets:
                for name, router in routers(table, prices, budget, trade, replicate, seed, known):
                    found.setdefault((name, budget), []).append(play(router, costs, prices))
            if progress:
                progress(done * replicates + replicate + 1, len(games) * replicates, order)
        totals = {key: np.array([one.total(trade) for one in own]) for key, own in found.items()}
        fixed = [key for key in totals if key[0].startswith("best fixed")]
        rival = min(fixed, key=lambda key: float(totals[key].mean()))
        for (name, budget), own in found.items():
            more = totals[name, budget] - totals[rival]
            rows.append(
                {
                    "order": order,
                    "trade": trade,
                    "router": name,
                    "budget": budget,
                    "paid": float(totals[name, budget].mean()),
                    "by_draw": totals[name, budget].tolist(),
                    "more": float(more.mean()),
                    "error": standard_error(more),
                    "quality": 1.0 - float(np.mean([one.cost for one in own])),
                    "dollars": DOLLARS * float(np.mean([one.price for one in own])),
                    "calls": float(np.mean([one.calls for one in own])),
                }
            )
    return rows


# What the adaptive budget is compared with, and the routers that this may be.
RIVALS = {
    "best fixed B": (*LEARNERS, *(f"{name}, features" for name in LEARNERS)),
    "fixed cascade": ("cascade of the cheapest",),
    "best set in hindsight": ("best fixed set",),
    "best cascade in hindsight": ("best fixed cascade",),
}


def compared(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The adaptive cascade at the largest budget, less what each of RIVALS pays on the same draws.

    A rival is the router and the budget that paid least at this order and trade, so it is chosen
    after the fact. low, high: an interval of 95% for the mean of the paired differences.
    """
    found = []
    for order, trade in dict.fromkeys((row["order"], row["trade"]) for row in rows):
        own = [row for row in rows if (row["order"], row["trade"]) == (order, trade)]
        adaptive = max(
            (row for row in own if row["router"] == "adaptive cascade"),
            key=lambda row: float(row["budget"]),
        )
        for kind, names in RIVALS.items():
            rival = min(
                (row for row in own if row["router"] in names), key=lambda row: float(row["paid"])
            )
            apart = np.array(adaptive["by_draw"]) - np.array(rival["by_draw"])
            wide = float(half_width(apart[:, None], 0.95)[0])
            found.append(
                {
                    "order": order,
                    "trade": trade,
                    "compared with": kind,
                    "router": f"{rival['router']}, B = {rival['budget']}",
                    "adaptive": adaptive["paid"],
                    "rival": rival["paid"],
                    "difference": float(apart.mean()),
                    "low": float(apart.mean()) - wide,
                    "high": float(apart.mean()) + wide,
                }
            )
    return found
