"""Auto with features of the instances, where these predict rewards better than none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    PickbestError,
    State,
    check_budget,
    replicate_keys,
    rng_for,
)
from pickbest.kernels.pairs import BETTER, UNIT, memory_in_use, share_of_arms
from pickbest.learners.auto import Auto
from pickbest.learners.cells import Row, Rows, checked_features, nearest, standardised

# As how many plays, at most, the rounds of all other cells count: what has predicted best.
WORTHS = (2.0, 8.0, 32.0, 128.0)
# Cells are followed when that predicts better by that many standard deviations in all rounds,
# and in the cell's own.
CLEARLY, ALSO_HERE = 2.0, 1.0


@dataclass(frozen=True)
class Contextual:
    """Auto whose sets come from rounds like this one, where that predicts rewards better.

    A round belongs to the cell whose center is nearest to its features. The results of a cell
    are blended with those of all other rounds, which count as a few plays of each arm (see
    WORTHS). If the blend has clearly predicted rewards better than the context-free learner,
    it proposes the set, else this is Auto, draw for draw. All else is Auto's: its guard takes
    any proposals, so the weights are exact and `theory.auto_bound` holds for any features.

    centers, shift, scale: from `cells_of`.

    >>> from pickbest.core import replicate_keys, rng_for
    >>> from pickbest.learners.cells import cells_of
    >>> learner = Contextual(4, 2, *cells_of([[0.0], [1.0], [10.0], [11.0]]))
    >>> learner.pick_in(learner.start(1), rng_for(replicate_keys(0, 1), 0), [0.5]).arms.shape
    (1, 2)
    """

    n_arms: int
    budget: int
    centers: Rows
    shift: Row
    scale: Row
    feedback = Feedback.PICKED
    unbiased = True

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        widths = {len(self.shift), len(self.scale), *(len(center) for center in self.centers)}
        if not self.centers or len(widths) != 1:
            raise PickbestError("centers, shift and scale must have the same width: use cells_of")

    def start(self, replicates: int) -> State:
        """all/…: Auto's; arms, pairs: as there, for each cell; lead: see `_learn_lead`."""
        state = {f"all/{name}": array for name, array in self._auto.start(replicates).items()}
        cells = len(self.centers)
        for name in ("arms", "pairs"):
            state[name] = np.repeat(state[f"all/{name}"][:, :1], cells, axis=1)
        state["lead"] = np.zeros((replicates, cells, len(WORTHS), 2))
        return state

    def pick_in(self, state: State, rng: Draws, features: ArrayLike) -> Choice:
        """Choose arms for a round with these raw features: (n_features,), the same in all
        replicates, or (replicates, n_features)."""
        cell = self._cells(features, len(rng.keys))
        rows, known = np.arange(len(cell)), _auto_state(state)
        worth = _worths(state["lead"], cell)
        led = np.isfinite(worth)
        if led.any():
            unit = known["memory"][led, 0, UNIT]
            known = {**known, "memory": known["memory"].copy()}
            for name in ("arms", "pairs"):
                array = known[name].copy()
                own = state[name][rows, cell][led]
                blend = _blend(own, _scaled(array[led, 0], unit), worth[led])
                array[led, 0] = array[led, -1] = blend
                known[name] = array
            known["memory"][led, 0, UNIT] = known["memory"][led, -1, UNIT] = 1.0
            known["memory"][led, :, BETTER] = 0.0
        return self._auto.pick(known, rng)

    def learn_in(
        self, state: State, choice: Choice, seen: FloatArray, features: ArrayLike
    ) -> State:
        """Fold one round in; the features are those of its pick."""
        cell = self._cells(features, len(seen))
        _learn_lead(state, cell, choice.arms, 1.0 - seen)
        rows, own = np.arange(len(cell))[:, None], cell[:, None]
        state["arms"][rows, own, 0, choice.arms] += 1.0 - seen
        state["arms"][rows, own, 1, choice.arms] += 1.0
        if state["pairs"].size:
            at = (rows[:, None], own[:, None])
            first, second = choice.arms[:, :, None], choice.arms[:, None, :]
            gains = np.maximum(seen[:, None, :] - seen[:, :, None], 0.0)
            state["pairs"][(*at, 0, first, second)] += gains
            state["pairs"][(*at, 1, first, second)] += first != second
        self._auto.learn(_auto_state(state), choice, seen)
        return state

    @property
    def _auto(self) -> Auto:
        return Auto(self.n_arms, self.budget)

    def _cells(self, features: ArrayLike, replicates: int) -> IntArray:
        """(replicates,) the cell of the round."""
        raw, width = checked_features(features), len(self.shift)
        if raw.shape not in {(width,), (replicates, width)}:
            raise PickbestError(
                f"features must have shape ({width},) or ({replicates}, {width}), got {raw.shape}"
            )
        points = standardised(np.atleast_2d(raw), self.shift, self.scale)
        return np.broadcast_to(nearest(points, self.centers), (replicates,))


def _auto_state(state: State) -> State:
    return {name[4:]: array for name, array in state.items() if name.startswith("all/")}


def _scaled(array: FloatArray, unit: FloatArray) -> FloatArray:
    return array * unit.reshape(-1, *[1] * (array.ndim - 1))


def _blend(own: FloatArray, everything: FloatArray, worth: FloatArray) -> FloatArray:
    """Sums and plays (replicates, 2, …) where the other cells' plays are cut to `worth`."""
    others = np.maximum(everything - own, 0.0)
    most = worth.reshape(-1, *[1] * (own.ndim - 1))
    blended: FloatArray = own + others * np.minimum(1.0, most / np.maximum(others[:, 1:2], 1e-9))
    return blended


def _means(counts: FloatArray, arms: IntArray) -> FloatArray:
    """kernels.pairs.mean_reward of the given arms, from (replicates, 2, n_arms)."""
    means = (1.0 + counts[:, 0]) / (2.0 + counts[:, 1])
    return np.take_along_axis(means, arms, axis=1)


def _worths(lead: FloatArray, cell: IntArray) -> FloatArray:
    """(replicates,) the worth that leads by most, infinite where none leads clearly."""
    total, here = lead.sum(axis=1), lead[np.arange(len(cell)), cell]
    clear = (total[..., 0] > CLEARLY * np.sqrt(total[..., 1])) & (
        here[..., 0] > ALSO_HERE * np.sqrt(here[..., 1])
    )
    best = np.argmax(np.where(clear, total[..., 0], -np.inf), axis=1)
    return np.where(clear.any(axis=1), np.asarray(WORTHS)[best], np.inf)


def _learn_lead(state: State, cell: IntArray, arms: IntArray, rewards: FloatArray) -> None:
    """By how much each worth's squared errors were below the context-free ones: the sums over
    a cell's rounds, and those of the squares."""
    rows = np.arange(len(cell))
    counts, memory = state["all/arms"], state["all/memory"]
    running = share_of_arms(arms.shape[1], counts.shape[-1])
    used = np.array([memory_in_use(row, running) for row in memory])
    free = _means(_scaled(counts[rows, used], memory[rows, used, UNIT]), arms)
    usual = ((free - rewards) ** 2).sum(axis=1)
    everything = _scaled(counts[:, 0], memory[:, 0, UNIT])
    for index, worth in enumerate(WORTHS):
        blended = _blend(state["arms"][rows, cell], everything, np.full(len(cell), worth))
        better = usual - ((_means(blended, arms) - rewards) ** 2).sum(axis=1)
        state["lead"][rows, cell, index] += np.column_stack([better, better**2])


def play_contextual(
    learner: Contextual,
    table: FloatArray,
    features: FloatArray,
    replicates: int,
    seed: int,
    shuffled: bool = False,
) -> FloatArray:
    """(replicates, rounds) costs paid over a table (rounds, n_arms) with features (rounds, n).

    shuffled: each replicate plays the rounds in an order of its own.
    """
    keys, rounds = replicate_keys(seed, replicates), len(table)
    order = np.tile(np.arange(rounds), (replicates, 1))
    if shuffled:
        order = np.random.default_rng(seed).permuted(order, axis=1)
    state = learner.start(replicates)
    paid = np.empty((replicates, rounds))
    for t in range(rounds):
        costs, known = table[order[:, t]], features[order[:, t]]
        choice = learner.pick_in(state, rng_for(keys, t), known)
        seen = np.take_along_axis(costs, choice.arms, axis=1)
        paid[:, t] = seen.min(axis=1)
        state = learner.learn_in(state, choice, seen, known)
    return paid
