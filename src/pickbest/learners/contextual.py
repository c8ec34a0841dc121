"""Auto with features of the instances, where these predict rewards better than none."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    PickbestError,
    check_budget,
    check_count,
)
from pickbest.core.states import copy_state, counts
from pickbest.kernels.compiled import allocating
from pickbest.kernels.pairs import PairsState, memory_in_use, share_of_arms
from pickbest.learners.auto import Auto, AutoState

Rows = tuple[tuple[float, ...], ...]
Row = tuple[float, ...]
# Sums over rounds, and in how many.
Sums = tuple[FloatArray, FloatArray]

# As how many plays, at most, the rounds of all other cells count: what has predicted best.
WORTHS = (2.0, 8.0, 32.0, 128.0)
# Cells are followed when that predicts better by that many standard deviations in all rounds,
# and in the cell's own.
CLEARLY, ALSO_HERE = 2.0, 1.0

# The number of cells, by that of the instances.
FEWEST, MOST, ROWS_A_CELL = 2, 20, 15
# Outliers are cut there, in units of a feature's scale.
FARTHEST = 5.0
STEPS = 20


class CellsState(NamedTuple):
    """(replicates, cells, …) what was seen in the rounds of each cell.

    rewards, plays, gains, together: as in `kernels.pairs.PairsState`, without a unit.
    better, squares: (…, worths) by how much the blend of each worth has predicted rewards
        better than the context-free learner, and the squares of that.
    """

    rewards: Annotated[FloatArray, counts(-1)]
    plays: Annotated[FloatArray, counts(-1)]
    gains: Annotated[FloatArray, counts(-2, -1)]
    together: Annotated[FloatArray, counts(-2, -1)]
    better: Annotated[FloatArray, counts()]
    squares: Annotated[FloatArray, counts()]


class ContextualState(NamedTuple):
    """The context-free learner, and what the cells add."""

    auto: AutoState
    cells: CellsState


@dataclass(frozen=True)
class Contextual:
    """Auto whose sets come from rounds like this one, where that predicts rewards better.

    A round belongs to the cell whose center is nearest to its features. The results of a cell
    are blended with those of all other rounds, which count as a few plays of each arm (see
    WORTHS). If the blend has clearly predicted rewards better than the context-free learner,
    it proposes the set, else this is Auto, draw for draw. All else is Auto's: its guard takes
    any proposals, so the weights are exact and `theory.auto_bound` holds for any features.
    Rounds without features are Auto's.

    centers, shift, scale: from `cells_of`.

    >>> from pickbest.core import replicate_keys, rng_for
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
    learns_any = True

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        widths = {len(self.shift), len(self.scale), *(len(center) for center in self.centers)}
        if not self.centers or len(widths) != 1:
            raise PickbestError("centers, shift and scale must have the same width: use cells_of")

    def start(self, replicates: int) -> ContextualState:
        auto, cells = self._auto.start(replicates), len(self.centers)
        seen = (np.repeat(array[:, :1], cells, axis=1) for array in auto.pairs[:4])
        lead = np.zeros((2, replicates, cells, len(WORTHS)))
        return ContextualState(auto, CellsState._make([*seen, *lead]))

    def pick(self, state: ContextualState, rng: Draws) -> Choice:
        return self._auto.pick(state.auto, rng)

    def learn(self, state: ContextualState, choice: Choice, seen: FloatArray) -> ContextualState:
        return state._replace(auto=self._auto.learn(state.auto, choice, seen))

    def pick_in(self, state: ContextualState, rng: Draws, features: ArrayLike) -> Choice:
        """Choose arms for a round with these raw features (see `core.ContextLearner`)."""
        cell = self._cells(features, len(rng.keys))
        worth = _worths(state.cells, cell)
        known = state.auto
        if np.isfinite(worth).any():
            known = known._replace(pairs=_blended_pairs(state, cell, worth))
        return self._auto.pick(known, rng)

    def learn_in(
        self, state: ContextualState, choice: Choice, seen: FloatArray, features: ArrayLike
    ) -> ContextualState:
        """Fold one round in; the features are those of its pick."""
        cell = self._cells(features, len(seen))
        running = share_of_arms(self.budget, self.n_arms)
        _learn_lead(state, cell, _memories_in_use(state.auto.pairs, running), choice.arms, seen)
        rows, own, cells = np.arange(len(cell))[:, None], cell[:, None], state.cells
        cells.rewards[rows, own, choice.arms] += 1.0 - seen
        cells.plays[rows, own, choice.arms] += 1.0
        if cells.gains.size:
            first, second = choice.arms[:, :, None], choice.arms[:, None, :]
            at = (rows[:, None], own[:, None], first, second)
            cells.gains[at] += np.maximum(seen[:, None, :] - seen[:, :, None], 0.0)
            cells.together[at] += first != second
        return self.learn(state, choice, seen)

    def without_features(self, state: ContextualState) -> tuple[Auto, AutoState]:
        """The context-free learner."""
        return self._auto, state.auto

    @property
    def _auto(self) -> Auto:
        return Auto(self.n_arms, self.budget)

    def _cells(self, features: ArrayLike, replicates: int) -> IntArray:
        """(replicates,) the cell of the round."""
        raw, width = _checked(features), len(self.shift)
        if raw.shape not in {(width,), (replicates, width)}:
            raise PickbestError(
                f"features must have shape ({width},) or ({replicates}, {width}), got {raw.shape}"
            )
        points = _standardised(np.atleast_2d(raw), self.shift, self.scale)
        return np.broadcast_to(_nearest(points, self.centers), (replicates,))


# What the cells add ---------------------------------------------------------------------------


def _worths(cells: CellsState, cell: IntArray) -> FloatArray:
    """(replicates,) the worth that leads by most, infinite where none leads clearly."""
    rows = np.arange(len(cell))
    total = cells.better.sum(axis=1)
    clear = (total > CLEARLY * np.sqrt(cells.squares.sum(axis=1))) & (
        cells.better[rows, cell] > ALSO_HERE * np.sqrt(cells.squares[rows, cell])
    )
    best = np.argmax(np.where(clear, total, -np.inf), axis=1)
    return np.where(clear.any(axis=1), np.asarray(WORTHS)[best], np.inf)


def _blended_pairs(state: ContextualState, cell: IntArray, worth: FloatArray) -> PairsState:
    """What Auto is to propose from: where a worth leads, the blend, in both halves of a set."""
    led = np.flatnonzero(np.isfinite(worth))
    pairs: PairsState = copy_state(state.auto.pairs)
    cells, own, unit = state.cells, cell[led], pairs.unit[led, 0]
    for known, seen in (
        ((pairs.rewards, pairs.plays), (cells.rewards, cells.plays)),
        ((pairs.gains, pairs.together), (cells.gains, cells.together)),
    ):
        everything = _scaled(known[0][led, 0], unit), _scaled(known[1][led, 0], unit)
        blend = _blend((seen[0][led, own], seen[1][led, own]), everything, worth[led])
        for array, blended in zip(known, blend, strict=True):
            array[led, 0] = array[led, -1] = blended
    pairs.unit[led, 0] = pairs.unit[led, -1] = 1.0
    pairs.better[led] = 0.0
    return pairs


def _blend(own: Sums, everything: Sums, worth: FloatArray) -> Sums:
    """Sums and plays where the plays of the other cells are cut to `worth`."""
    sums, plays = (np.maximum(all_ - mine, 0.0) for all_, mine in zip(everything, own, strict=True))
    most = worth.reshape(-1, *[1] * (plays.ndim - 1))
    kept = np.minimum(1.0, most / np.maximum(plays, 1e-9))
    return own[0] + sums * kept, own[1] + plays * kept


def _scaled(array: FloatArray, unit: FloatArray) -> FloatArray:
    return array * unit.reshape(-1, *[1] * (array.ndim - 1))


def _means(rewards: FloatArray, plays: FloatArray, arms: IntArray) -> FloatArray:
    """kernels.pairs.mean_reward of the given arms, from (replicates, n_arms)."""
    return np.take_along_axis((1.0 + rewards) / (2.0 + plays), arms, axis=1)


@allocating
def _memories_in_use(pairs: PairsState, running: float) -> IntArray:
    """memory_in_use of every replicate."""
    used = np.empty(pairs.unit.shape[0], np.int64)
    for row in range(used.shape[0]):
        used[row] = memory_in_use(pairs, row, running)
    return used


def _learn_lead(
    state: ContextualState, cell: IntArray, used: IntArray, arms: IntArray, seen: FloatArray
) -> None:
    """Add by how much each worth's squared errors were below those of the memory in use."""
    pairs, cells, rows, rewards = state.auto.pairs, state.cells, np.arange(len(cell)), 1.0 - seen
    unit = pairs.unit[rows, used]
    free = _scaled(pairs.rewards[rows, used], unit), _scaled(pairs.plays[rows, used], unit)
    usual = ((_means(*free, arms) - rewards) ** 2).sum(axis=1)
    unit = pairs.unit[:, 0]
    everything = _scaled(pairs.rewards[:, 0], unit), _scaled(pairs.plays[:, 0], unit)
    own = cells.rewards[rows, cell], cells.plays[rows, cell]
    for index, worth in enumerate(WORTHS):
        blended = _blend(own, everything, np.full(len(cell), worth))
        better = usual - ((_means(*blended, arms) - rewards) ** 2).sum(axis=1)
        cells.better[rows, cell, index] += better
        cells.squares[rows, cell, index] += better**2


# Cells of instances ---------------------------------------------------------------------------


def cells_of(features: ArrayLike, count: int | None = None) -> tuple[Rows, Row, Row]:
    """(centers, shift, scale) for `Contextual`: cells of similar instances, found by k-means.

    features: (rows, n_features), finite: the raw features of past instances.
    count: of cells; from 2 to 20 by the number of rows if None. Fewer where rows coincide.

    >>> cells_of([[0.0], [1.0], [10.0], [11.0]], count=2)[0]
    ((-0.5263157894736842,), (0.5263157894736842,))
    """
    raw = _checked(features)
    if raw.ndim != 2 or not raw.size:
        raise PickbestError(f"features must have shape (rows, n_features), got {raw.shape}")
    if count is None:
        count = min(MOST, max(FEWEST, len(raw) // ROWS_A_CELL))
    shift = np.median(raw, axis=0)
    scale = np.subtract(*np.quantile(raw, (0.75, 0.25), axis=0))
    # Columns that hardly vary have no quartiles apart; constant ones are 0 at any scale.
    scale = np.where(scale > 0.0, scale, np.std(raw, axis=0))
    scale = np.where(scale > 0.0, scale, 1.0)
    centers = _centers(_standardised(raw, shift, scale), check_count("count", count))
    rows = tuple(tuple(center) for center in sorted(centers.tolist()))
    return rows, tuple(shift.tolist()), tuple(scale.tolist())


def _checked(features: ArrayLike) -> FloatArray:
    """Finite numbers, as a float64 array."""
    try:
        array = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PickbestError(f"features must be rows of numbers of one length ({error})") from error
    if not np.isfinite(array).all():
        raise PickbestError(
            "features must be finite numbers: fill missing ones in, for example with medians"
        )
    return array


def _standardised(raw: FloatArray, shift: ArrayLike, scale: ArrayLike) -> FloatArray:
    """Features in units of their scale, outliers cut."""
    points: FloatArray = (raw - np.asarray(shift)) / np.asarray(scale)
    return points.clip(-FARTHEST, FARTHEST)


def _nearest(points: FloatArray, centers: ArrayLike) -> IntArray:
    """(rows,) the center that is nearest to each point."""
    away: FloatArray = points[:, None, :] - np.asarray(centers)[None, :, :]
    found: IntArray = np.argmin((away * away).sum(axis=2), axis=1)
    return found


def _centers(points: FloatArray, count: int) -> FloatArray:
    """k-means++ with a fixed seed, then steps of Lloyd."""
    rng = np.random.default_rng(0)
    centers: FloatArray = points[rng.integers(len(points))][None]
    while len(centers) < count:
        away = points - centers[_nearest(points, centers)]
        far = (away * away).sum(axis=1)
        if not far.any():
            break
        centers = np.vstack([centers, points[rng.choice(len(points), p=far / far.sum())]])
    for _ in range(STEPS):
        owner = _nearest(points, centers)
        kept = np.unique(owner)
        centers = np.array([points[owner == cell].mean(axis=0) for cell in kept])
    return centers
