"""What other budgets, and each arm alone, would have cost, from the rounds of a portfolio.

A journal knows nothing of arms that did not run, and of a stopped run only that it took longer, so
no cost is filled in. The rounds are folded into the mixture of `auto.kinds`, which takes a stopped
run for what it is, once for each of some resamplings of the rounds (Efron 1979). What a set of arms
costs that ran together was seen itself, and counts besides the mixture, which is worth MIXTURE
rounds. Every estimate is a mean over the resamplings, with an interval that holds 90% of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pickbest.core import BoolArray, FloatArray, IntArray, PickbestError
from pickbest.core.types import Plans, Runs
from pickbest.learners.auto import Schedules
from pickbest.learners.auto.kinds import EDGES, survivals
from pickbest.portfolio.runs import RunStatus
from pickbest.portfolio.store.records import Entry, Finished, Picked, check_finished, check_weights

RESAMPLINGS = 40
# Kinds of problems become clear when rounds are looked at again, knowing what came later.
PASSES = 8
# Of a long journal, the last rounds count.
MOST_ROUNDS = 2_000
FEWEST_ROUNDS = 5
MIXTURE = 10.0
# An estimate is clear if this share of the resamplings agree.
CLEAR = 0.9


@dataclass(frozen=True)
class Interval:
    """A mean over resamplings, and what 90% of them lie between."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class BudgetEstimate:
    """What the best arms of a budget would cost, all started at once and the losers stopped.

    cost: as the portfolio counts it. processor: time of all arms, in deadlines. arms: empty where
    the rounds do not tell which are best. realised: what rounds with this budget did cost.
    """

    budget: int
    cost: Interval
    processor: Interval
    arms: tuple[str, ...]
    realised: float | None


@dataclass(frozen=True)
class Advised:
    """The advice in one sentence, and what it comes from.

    seen: the share of all costs that are known. stopped: the share of runs that were stopped
    because another arm had answered.
    """

    arms: tuple[str, ...]
    rounds: int
    seen: float
    budget: int
    stopped: float
    estimates: tuple[BudgetEstimate, ...]
    advice: str


def advise(entries: Sequence[Entry], budget: int, seed: int = 0) -> Advised:
    """Advice from a journal."""
    model = Model(timed_rounds(entries), seed)
    names = model.rounds.names
    told = [e.record.runs for e in entries if isinstance(e.record, Finished)]
    runs = [run for each in told for run in each]
    stopped = sum(run.status is RunStatus.STOPPED for run in runs) / len(runs)
    known = sum(run.cost is not None for run in runs) / (len(told) * len(names))
    found = tuple(model.best(size) for size in range(1, len(names) + 1))
    said = sentence(found, budget, model.rounds.timed)
    return Advised(names, len(told), known, budget, stopped, found, said)


@dataclass(frozen=True)
class Rounds:
    """Finished rounds with times: arms that ran, (rounds, most arms), -1 where there is none."""

    names: tuple[str, ...]
    arms: IntArray
    times: FloatArray
    answered: BoolArray
    weights: FloatArray
    costs: FloatArray
    sizes: IntArray

    @property
    def timed(self) -> bool:
        """Whether costs are times: else they are 0 or 1."""
        return bool(np.any((self.costs > 0.0) & (self.costs < 1.0)))


def timed_rounds(entries: Sequence[Entry]) -> Rounds:
    """The last rounds that say when arms answered or were stopped."""
    records = [entry.record for entry in entries]
    results = {each.round: each for each in records if isinstance(each, Finished)}
    opened = [each for each in records if isinstance(each, Picked) and each.round in results]
    both = [(each, results[each.round]) for each in opened]
    paired = [(picked, told) for picked, told in both if told.cost is not None][-MOST_ROUNDS:]
    if len(paired) < FEWEST_ROUNDS:
        raise PickbestError(
            f"advice needs at least {FEWEST_ROUNDS} finished rounds, got {len(paired)}: play more"
        )
    for picked, told in paired:
        check_finished(told, picked)
        check_weights(picked)
    names = tuple(dict.fromkeys(run.arm for _, told in paired for run in told.runs))
    shape = (len(paired), max(len(told.runs) for _, told in paired))
    costs = np.array([told.cost for _, told in paired], np.float64)
    sizes = np.array([0 if picked.until else len(told.runs) for picked, told in paired])
    empty = np.full(shape, -1), np.zeros(shape), np.zeros(shape, np.bool_), np.ones(shape)
    rounds = Rounds(names, *empty, costs, sizes)
    for row, (picked, told) in enumerate(paired):
        for place, (run, time) in enumerate(zip(told.runs, told.times, strict=True)):
            if run.status is RunStatus.STOPPED and time == 0.0:
                continue
            rounds.arms[row, place] = names.index(run.arm)
            rounds.times[row, place] = time
            rounds.weights[row, place] = (picked.weights or {place: 1.0})[place]
            rounds.answered[row, place] = run.cost is not None and time < 1.0 and run.cost < 1.0
    return rounds


@dataclass(frozen=True)
class Expected:
    """What arms would do, in every resampling.

    time: until the answer in deadlines, 1 where there is none. failed: the share of problems
    without an answer. cost: the one or the other, as the portfolio counts it.
    """

    time: FloatArray
    failed: FloatArray
    cost: FloatArray


class Model:
    """The mixture of each resampling of rounds, and what it says of arms."""

    def __init__(self, rounds: Rounds, seed: int = 0) -> None:
        n_arms, count = len(rounds.names), len(rounds.costs)
        planner = Schedules(n_arms, min(rounds.arms.shape[1], n_arms))
        state = planner.start(RESAMPLINGS)
        drawn = np.random.default_rng(seed).integers(count, size=(count, RESAMPLINGS))
        for rows in np.tile(drawn, (PASSES, 1)):
            arms = rounds.arms[rows]
            seen = Runs(rounds.times[rows], rounds.answered[rows], arms >= 0)
            state = planner.learn_runs(state, Plans(arms, np.zeros(RESAMPLINGS)), seen)
        self.rounds = rounds
        self._drawn = drawn
        self._survival = survivals(state)  # (resamplings, kinds, arms, edges): not answered yet
        self._kinds = state.mass / state.mass.sum(axis=1, keepdims=True)

    def silent(self, arms: Sequence[int]) -> FloatArray:
        """(resamplings, edges): the share of problems that none has answered by `kinds.EDGES`."""
        silent: FloatArray = np.einsum(
            "rk,rke->re", self._kinds, self._survival[:, :, list(arms)].prod(axis=2)
        )
        return silent

    def together(self, arms: Sequence[int]) -> Expected:
        """What these arms would do, all started at once and the losers stopped."""
        rounds, silent = self.rounds, self.silent(arms)
        time, failed = _beyond(silent)[:, 0], silent[:, -1]
        cost = time if rounds.timed else failed
        if len(arms) == rounds.arms.shape[1]:
            ran = (np.sort(rounds.arms, axis=1) == np.sort(arms)).all(axis=1)
            ran &= rounds.sizes == len(arms)
            first = np.where(rounds.answered, rounds.times, 1.0).min(axis=1)
            count = MIXTURE + ran[self._drawn].sum(axis=0)
            cost, time = (
                (MIXTURE * guess + (ran * seen)[self._drawn].sum(axis=0)) / count
                for guess, seen in ((cost, rounds.costs), (time, first))
            )
        return Expected(time, failed, cost)

    def alone(self) -> list[Expected]:
        """What each arm would have done alone: runs that ended count as they are.

        What a stopped run would have taken follows from the mixture, given how all arms of its
        round ended. Rounds in which an arm was unlikely to be picked count more.
        """
        rounds, survival = self.rounds, self._survival
        arms, times, answered = rounds.arms, rounds.times, rounds.answered
        bins = np.clip(np.searchsorted(EDGES, times, side="right") - 1, 0, len(EDGES) - 2)
        # Axes: resamplings, kinds, rounds, places.
        here, after = survival[:, :, arms, bins], survival[:, :, arms, bins + 1]
        likely = np.where(answered, here - after, here)
        kinds = self._kinds[:, :, None] * np.where(arms >= 0, likely, 1.0).prod(axis=-1)
        kinds = (kinds / kinds.sum(axis=1, keepdims=True))[..., None]
        more = (kinds * _beyond(survival)[:, :, arms, bins] / here).sum(axis=1)
        never = (kinds * survival[:, :, arms, -1] / here).sum(axis=1)
        ended = answered | (times >= 1.0)
        took = np.where(ended, times, np.maximum(times, EDGES[bins] + more))
        fails = np.where(ended, ~answered, never)
        drawn = np.stack([np.bincount(each, minlength=len(arms)) for each in self._drawn.T])
        weights = drawn[:, :, None] * rounds.weights
        found = []
        for arm in range(len(rounds.names)):
            own = weights * (arms == arm)
            # An arm that a resampling left out has the mixture's own time there.
            guess, count = self.together([arm]), 1e-9 + own.sum(axis=(1, 2))
            time = (1e-9 * guess.time + (own * took).sum(axis=(1, 2))) / count
            failed = (1e-9 * guess.failed + (own * fails).sum(axis=(1, 2))) / count
            found.append(Expected(time, failed, time if rounds.timed else failed))
        return found

    def best(self, budget: int) -> BudgetEstimate:
        """The best arms of a budget, chosen one after another."""
        rounds, chosen = self.rounds, list[int]()
        everyone = range(len(rounds.names))
        for _ in range(budget):
            others = [arm for arm in everyone if arm not in chosen]
            costs = [self.together([*chosen, arm]).cost.mean() for arm in others]
            chosen.append(others[int(np.argmin(costs))])
        found = self.together(chosen)
        swaps = [
            [*(arm for arm in chosen if arm != out), new]
            for out in chosen
            for new in everyone
            if new not in chosen
        ]
        clear = all((self.together(swap).cost > found.cost).mean() >= CLEAR for swap in swaps)
        arms = tuple(rounds.names[arm] for arm in chosen) if clear else ()
        same = rounds.sizes == budget
        realised = float(rounds.costs[same].mean()) if same.any() else None
        processor = interval(budget * found.time)
        return BudgetEstimate(budget, interval(found.cost), processor, arms, realised)


def _beyond(silent: FloatArray) -> FloatArray:
    """The time without an answer from each of `kinds.EDGES` on."""
    within = 0.5 * (silent[..., 1:] + silent[..., :-1]) * np.diff(EDGES)
    beyond: FloatArray = np.cumsum(within[..., ::-1], axis=-1)[..., ::-1]
    return beyond


def interval(values: FloatArray) -> Interval:
    """Of the values in all resamplings."""
    low, high = np.quantile(values, [0.05, 0.95])
    return Interval(float(values.mean()), float(low), float(high))


def sentence(found: Sequence[BudgetEstimate], budget: int, timed: bool) -> str:
    """The advice: what one arm more would bring, or one less would lose."""
    by_size = {each.budget: each for each in found}
    if budget not in by_size:
        return (
            f"Enough is known of {len(found)} arms only: too few to say what {budget} of them cost"
        )
    now, more, less = by_size[budget], by_size.get(budget + 1), by_size.get(budget - 1)
    what = "of the time" if timed else "of the failures"
    if more is not None:
        saved, paid = 1.0 - more.cost.mean / now.cost.mean, more.processor.mean / now.processor.mean
        if more.cost.high < now.cost.mean and saved > 0.0:
            return (
                f"One arm more would save about {saved:.0%} {what} for "
                f"{abs(paid - 1.0):.0%} {'more' if paid >= 1.0 else 'less'} processor time"
            )
    if less is not None and less.cost.low <= now.cost.mean:
        spared = 1.0 - less.processor.mean / now.processor.mean
        return f"One arm less would cost about as much, for {spared:.0%} less processor time"
    if more is None:
        return "All arms run already, and one less would cost more"
    return "These rounds do not tell whether one arm more would save anything"
