"""Calls that have a price: which arms to call on a problem, and whether another is worth its price.

What is paid for a problem is the lowest cost among the arms called plus `trade` times the price of
every call. Arms are called at once (a set of at most `budget`), or one after another, as a verifier
allows: then the results so far decide whether there is another.

A problem is of one of KINDS kinds, from hard to easy, and given its kind the costs of arms are
independent: so an arm that failed makes those kinds likely on which others fail, too. Costs are
spread over LEVELS. The law of an arm's cost on a kind leans on that of all arms, tilted by how good
the arm is. Kinds are told apart by soft counts, each round once (the EM algorithm, Dempster, Laird
and Rubin 1977); with features, the regression of `auto.features` says which kinds are likely before
anything is called.

Every round draws the arms' laws from what is known (Thompson 1933) and plays what is cheapest if
they are true: the best set, built greedily, or the best first call, looked ahead DEPTH calls. With
independent arms and any number of calls that is the search of Weitzman (1979). No bound on the
regret is known for this learner: one that has a bound is `auto` with a fixed budget.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    PickbestError,
    Seen,
    check_budget,
)
from pickbest.core.checks import check_not_negative
from pickbest.core.states import counts
from pickbest.learners.auto.features import count_numbers, described, regress

# Costs between two levels count partly for each.
LEVELS = np.linspace(0.0, 1.0, 5)
KINDS = 4
# Calls that a law counts as which is leant on; that an arm counts as, at most, in that of all arms.
WORTH, MOST_OF_ARM = 3.0, 3.0
# Calls that the kinds' laws count as before anything is seen.
LADDER = 2.0
# A posterior draw counts a call as SHARPNESS trials, and what is leant on as LEANT trials. Were the
# latter more, a dear arm would never be tried where all that is known is that cheap ones fail.
SHARPNESS, LEANT = 8.0, 2.0
# What is older than about 1 / (1 - KEPT) problems counts little.
KEPT = 0.999
# How many calls are looked ahead, and how many arms are tried for each.
DEPTH, BREADTH = 3, 8
# The length of a problem's vector, however many features there are.
PLACES = 128


class CallsState(NamedTuple):
    """What was seen, (replicates, …).

    mass: (kinds,) problems of each kind. seen: (kinds, arms, levels) costs. spent, charged: (arms,)
    prices that were told, and how many. number, mean, squares, weights, known: of the regression
    of kinds on features, see `auto.features`; weights are (kinds, places), known (places, places).
    """

    mass: Annotated[FloatArray, counts()]
    seen: Annotated[FloatArray, counts(-2)]
    spent: Annotated[FloatArray, counts(-1)]
    charged: Annotated[FloatArray, counts(-1)]
    number: Annotated[FloatArray, counts()]
    mean: Annotated[FloatArray, counts(signed=True)]
    squares: Annotated[FloatArray, counts()]
    weights: Annotated[FloatArray, counts(signed=True)]
    known: Annotated[FloatArray, counts(signed=True)]


@dataclass(frozen=True)
class Calls:
    """At most `budget` calls on each problem, as few as are worth their price.

    prices: of a call, one for all arms or one for each; what is told with results counts more.
    trade: how much a price of 1 weighs against a cost of 1. cascade: arms are called one after
    another, not at once.

    >>> Calls(n_arms=3, budget=2, prices=(0.1, 0.2, 0.3)).price.tolist()
    [0.1, 0.2, 0.3]
    """

    n_arms: int
    budget: int
    prices: float | tuple[float, ...] = 0.0
    trade: float = 1.0
    cascade: bool = False
    feedback = Feedback.PICKED
    unbiased = False
    uses_features = True

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_not_negative("trade", self.trade)
        given = np.atleast_1d(np.asarray(self.prices, float))
        if given.shape not in ((1,), (self.n_arms,)) or not np.all((given >= 0) & (given < np.inf)):
            raise PickbestError(
                f"prices must be a number of at least 0, or one for each of {self.n_arms} arms, "
                f"got {self.prices!r}"
            )

    @cached_property
    def price(self) -> FloatArray:
        """(arms,) of a call, before any is told."""
        each = np.broadcast_to(np.asarray(self.prices, float), (self.n_arms,))
        return np.ascontiguousarray(each)

    def start(self, replicates: int, n_features: int = 0) -> CallsState:
        places = PLACES if n_features else 0
        shapes = (
            (KINDS,), (KINDS, self.n_arms, len(LEVELS)), (self.n_arms,), (self.n_arms,),
            (n_features,), (n_features,), (n_features,), (KINDS, places), (places, places),
        )  # fmt: skip
        state = CallsState(*(np.zeros((replicates, *shape)) for shape in shapes))
        state.mass[:] = 1.0
        return state

    def pick(self, state: CallsState, draws: Draws, features: FloatArray | None = None) -> Choice:
        """Where all places must be filled: the best set of `budget` arms, whatever they cost."""
        rows = range(len(draws.keys))
        arms = [self._set(state, row, draws, features, free=True) for row in rows]
        return Choice(np.array(arms, np.int64))

    def learn(
        self, state: CallsState, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> CallsState:
        for row in range(len(choice.arms)):
            self.learn_calls(state, row, choice.arms[row], seen.high[row], features)
        return state

    def calls(
        self,
        state: CallsState,
        draws: Draws,
        features: FloatArray | None = None,
        called: IntArray | None = None,
        costs: FloatArray | None = None,
        row: int = 0,
    ) -> list[int]:
        """The arms to call next; none where none is worth its price.

        called, costs: what was called on this problem before, and what it cost.
        """
        if not self.cascade:
            return self._set(state, row, draws, features) if called is None else []
        if called is None or costs is None:
            called, costs = np.empty(0, np.int64), np.empty(0)
        if len(called) >= self.budget:
            return []
        return self._next(state, row, draws, features, called, costs)

    def learn_calls(
        self,
        state: CallsState,
        row: int,
        arms: IntArray,
        costs: FloatArray,
        features: FloatArray | None = None,
        called: IntArray | None = None,
        before: FloatArray | None = None,
        prices: FloatArray | None = None,
    ) -> None:
        """Fold calls in. called, before: see `calls`. prices: NaN where none was told."""
        laws = self._laws(state, row)
        phi = None if features is None else described(state, row, features[row])
        expected = _weights(state, row, phi)
        likely = expected * _likelihood(laws, arms, costs)
        if called is not None and before is not None:
            likely *= _likelihood(laws, called, before)
        likely /= likely.sum()
        if called is None:
            state.mass[row] = KEPT * state.mass[row] + likely
            state.seen[row] *= KEPT
            if features is not None and phi is not None:
                error = likely - _usual(state, row) - state.weights[row] @ phi
                regress(state.weights[row], state.known[row], phi, error)
                count_numbers(state, row, features[row])
        for arm, shares in zip(arms, _shares(costs), strict=True):
            state.seen[row, :, arm] += np.outer(likely, shares)
        if prices is not None:
            told = ~np.isnan(prices)
            state.spent[row, arms[told]] += prices[told]
            state.charged[row, arms[told]] += 1.0

    def frontier(self, state: CallsState, row: int = 0) -> list[tuple[list[int], float, float]]:
        """Fixed sets as (arms, mean cost, price), the cheapest first; estimates, in hindsight.

        Those that pay least at some trade: each costs less than any that is cheaper.
        """
        laws, weights = self._laws(state, row), _weights(state, row, None)
        prices = self._prices(state, row)
        found: dict[tuple[int, ...], tuple[float, float]] = {}
        largest = max(float(prices.max()), 1e-9)
        for trade in np.append(np.geomspace(1e-3, 10.0, 16), 0.0) / largest:
            arms = tuple(sorted(_greedy(laws, weights, trade * prices, self.budget)))
            above = (1.0 - np.cumsum(laws[:, arms], axis=2)[:, :, :-1]).prod(axis=1)
            found[arms] = float(weights @ above.mean(axis=1)), float(prices[list(arms)].sum())
        best: list[tuple[list[int], float, float]] = []
        for arms, (cost, price) in sorted(found.items(), key=lambda each: each[1][::-1]):
            if not best or cost < best[-1][1]:
                best.append((list(arms), cost, price))
        return best

    def _prices(self, state: CallsState, row: int) -> FloatArray:
        """(arms,) of a call: what was said before counts as one that was told."""
        spent, charged = state.spent[row], state.charged[row]
        usual = np.where(self.price > 0.0, self.price, spent.sum() / max(charged.sum(), 1.0))
        prices: FloatArray = (spent + usual) / (charged + 1.0)
        return prices

    def _laws(
        self, state: CallsState, row: int, generator: np.random.Generator | None = None
    ) -> FloatArray:
        """(kinds, arms, levels) of each arm's cost on each kind; with a generator, a draw."""
        seen = state.seen[row]
        of_arm = seen.sum(axis=(0, 2))
        share = np.minimum(1.0, MOST_OF_ARM / np.maximum(of_arm, 1.0))
        typical = LADDER * _BEGINNING + (seen * share[None, :, None]).sum(axis=1)
        typical /= typical.sum(axis=1, keepdims=True)
        # How good an arm is beside the typical one, on the kinds that it was called on.
        good, usual = (
            seen.sum(axis=0) @ (1.0 - LEVELS),
            seen.sum(axis=2).T @ (typical @ (1.0 - LEVELS)),
        )
        middle = float(state.mass[row] @ typical @ (1.0 - LEVELS)) / state.mass[row].sum()
        rates = [(each + WORTH * middle) / (of_arm + WORTH) for each in (good, usual)]
        own, all_ = (np.log1p(-np.clip(each, 0.01, 0.99)) for each in rates)
        tails = 1.0 - np.cumsum(typical, axis=1)[:, None, :-1]
        tails = np.clip(tails, 1e-6, 1.0) ** (own / all_)[None, :, None]
        counted = WORTH * _law(tails) + seen
        laws: FloatArray = counted / counted.sum(axis=2, keepdims=True)
        if generator is None:
            return laws
        # An arm may be better or worse than it seems on all kinds, and on each kind for itself.
        shape = 1.0 + SHARPNESS * of_arm
        factor = generator.standard_gamma(shape) / shape
        tails = np.clip(1.0 - np.cumsum(laws, axis=2)[:, :, :-1], 1e-6, 1.0)
        trials = LEANT + SHARPNESS * seen.sum(axis=2, keepdims=True)
        drawn = generator.standard_gamma(_law(tails ** factor[None, :, None]) * trials)
        laws = np.maximum(drawn, 1e-9)
        laws /= laws.sum(axis=2, keepdims=True)
        return laws

    def _drawn(
        self, state: CallsState, row: int, draws: Draws, features: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """(a draw of `_laws`, how likely the problem is of each kind)."""
        laws = self._laws(state, row, draws.generator(row))
        phi = None if features is None else described(state, row, features[row])
        return laws, _weights(state, row, phi)

    def _set(
        self,
        state: CallsState,
        row: int,
        draws: Draws,
        features: FloatArray | None,
        free: bool = False,
    ) -> list[int]:
        """The greedy set; free: calls cost nothing, and all places are filled."""
        laws, weights = self._drawn(state, row, draws, features)
        charges = (0.0 if free else self.trade) * self._prices(state, row)
        return _greedy(laws, weights, charges, self.budget, whole=free)

    def _next(
        self,
        state: CallsState,
        row: int,
        draws: Draws,
        features: FloatArray | None,
        called: IntArray,
        costs: FloatArray,
    ) -> list[int]:
        """The best next call, or none."""
        laws, weights = self._drawn(state, row, draws, features)
        best = 1.0
        if len(called):
            weights = weights * _likelihood(laws, called, costs)
            weights /= weights.sum()
            best = float(costs.min())
        look = _Look(laws, self.trade * self._prices(state, row))
        left = self.budget - len(called)
        taken = np.zeros((1, self.n_arms), np.bool_)
        taken[0, called] = True
        paid, arms = look.ahead(weights[None], np.array([best]), taken, min(left, DEPTH))
        return [] if len(called) and paid[0] >= best else [int(arms[0])]


def _greedy(
    laws: FloatArray, weights: FloatArray, charges: FloatArray, budget: int, whole: bool = False
) -> list[int]:
    """The set that pays least, arm by arm; whole: as many as the budget says."""
    # The mean of the lowest cost is that of how likely it is above each level.
    above = 1.0 - np.cumsum(laws, axis=2)[:, :, :-1]
    together, chosen, paid = np.ones((KINDS, 1, len(LEVELS) - 1)), list[int](), np.inf
    while len(chosen) < budget:
        totals = weights @ (together * above).mean(axis=2) + charges + charges[chosen].sum()
        totals[chosen] = np.inf
        best = int(np.argmin(totals))
        if totals[best] >= paid and not whole:
            break
        chosen.append(best)
        paid, together = float(totals[best]), together * above[:, best : best + 1]
    return chosen


class _Look(NamedTuple):
    """Laws that are taken to be true, (kinds, arms, levels), and charges, (arms,)."""

    laws: FloatArray
    charges: FloatArray

    def ahead(
        self, weights: FloatArray, best: FloatArray, taken: np.ndarray, depth: int
    ) -> tuple[FloatArray, IntArray]:
        """(what is paid from here on at least, the call to make) in each of some situations.

        weights: (situations, kinds). best: (situations,) the lowest cost so far. taken:
        (situations, arms) what was called. What is paid includes `best`, or what replaces it.
        """
        # Costs after one call: the mean of min(best, cost).
        kept = np.minimum(best[:, None], LEVELS)
        once = np.einsum("sk,kal,sl->sa", weights, self.laws, kept, optimize=True) + self.charges
        once[taken] = np.inf
        if depth <= 1 or self.laws.shape[1] == 1:
            return once.min(axis=1), once.argmin(axis=1)
        # Those that are best alone, and those that gain most for their price.
        gains = (best[:, None] - once + self.charges) / np.maximum(self.charges, 1e-9)
        gains[taken] = -np.inf
        half = min(BREADTH // 2, self.laws.shape[1])
        tried = np.concatenate(
            [np.argsort(once, axis=1)[:, :half], np.argsort(-gains, axis=1)[:, :half]], axis=1
        )
        laws = self.laws[:, tried].transpose(1, 2, 3, 0)  # (situations, tried, levels, kinds)
        joint = laws * weights[:, None, None, :]
        chance = joint.sum(axis=3)
        then = joint / np.maximum(chance, 1e-300)[..., None]
        shape = (*tried.shape, len(LEVELS))
        lowest = np.broadcast_to(kept[:, None, :], shape)
        gone = np.repeat(taken[:, None, :], tried.shape[1], axis=1)
        np.put_along_axis(gone, tried[:, :, None], True, axis=2)
        gone = np.repeat(gone[:, :, None, :], len(LEVELS), axis=2)
        worth = (lowest > 0.0) & (chance > 1e-3)
        later = lowest.copy()
        if worth.any():
            on, _ = self.ahead(then[worth], lowest[worth], gone[worth], depth - 1)
            later[worth] = np.minimum(later[worth], on)
        totals = (chance * later).sum(axis=2) + np.take_along_axis(
            np.broadcast_to(self.charges, once.shape), tried, axis=1
        )
        totals[np.take_along_axis(taken, tried, axis=1)] = np.inf
        place = totals.argmin(axis=1)
        rows = np.arange(len(tried))
        return totals[rows, place], tried[rows, place]


def _beginning() -> FloatArray:
    """(kinds, levels): from hard to easy, mostly right or wrong."""
    right = (np.arange(KINDS) + 0.5) / KINDS
    laws = np.full((KINDS, len(LEVELS)), 0.02)
    laws[:, 0] += right
    laws[:, -1] += 1.0 - right
    beginning: FloatArray = laws / laws.sum(axis=1, keepdims=True)
    return beginning


_BEGINNING = _beginning()


def _law(tails: FloatArray) -> FloatArray:
    """Probabilities of levels, (…, levels), from those of more than each, (…, levels - 1)."""
    ends = np.ones((*tails.shape[:-1], 1))
    law: FloatArray = -np.diff(np.concatenate([ends, tails, 0.0 * ends], axis=-1), axis=-1)
    return np.maximum(law, 1e-9)


def _shares(costs: FloatArray) -> FloatArray:
    """(costs, levels): how much of a cost counts for each level."""
    shares: FloatArray = 1.0 - np.abs(costs[:, None] - LEVELS) * (len(LEVELS) - 1)
    return np.maximum(shares, 0.0)


def _likelihood(laws: FloatArray, arms: IntArray, costs: FloatArray) -> FloatArray:
    """(kinds,): of what arms cost."""
    likely: FloatArray = (laws[:, arms] * _shares(costs)[None]).sum(axis=2).prod(axis=1) + 1e-12
    return likely


def _usual(state: CallsState, row: int) -> FloatArray:
    """(kinds,): how likely a problem of which nothing is known is of each kind."""
    usual: FloatArray = state.mass[row] / state.mass[row].sum()
    return usual


def _weights(state: CallsState, row: int, phi: FloatArray | None) -> FloatArray:
    """(kinds,): how likely a problem is of each kind before anything is called.

    phi: its features, see `auto.features`.
    """
    weights = _usual(state, row)
    if phi is not None:
        found = weights + state.weights[row] @ phi
        weights = np.clip(found, 0.01, 1.0)
        weights /= weights.sum()
    return weights
