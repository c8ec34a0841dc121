"""What a larger or smaller budget would have cost, from the rounds that a portfolio has played.

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
from pickbest.portfolio.store.records import Entry, Finished, Picked, check_finished

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
    names = tuple(dict.fromkeys(run.arm for _, told in paired for run in told.runs))
    shape = (len(paired), max(len(told.runs) for _, told in paired))
    costs = np.array([told.cost for _, told in paired], np.float64)
    sizes = np.array([0 if picked.until else len(told.runs) for picked, told in paired])
    empty = np.full(shape, -1), np.zeros(shape), np.zeros(shape, np.bool_)
    rounds = Rounds(names, *empty, costs, sizes)
    for row, (_, told) in enumerate(paired):
        for place, (run, time) in enumerate(zip(told.runs, told.times, strict=True)):
            if run.status is RunStatus.STOPPED and time == 0.0:
                continue
            rounds.arms[row, place] = names.index(run.arm)
            rounds.times[row, place] = time
            rounds.answered[row, place] = run.cost is not None and time < 1.0 and run.cost < 1.0
    return rounds


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

    def together(self, arms: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """(cost, time) in every resampling, all started at once and the losers stopped."""
        rounds = self.rounds
        survival = self._survival[:, :, list(arms)].prod(axis=2)
        silent = np.einsum("rk,rke->re", self._kinds, survival)
        time = 0.5 * (silent[:, 1:] + silent[:, :-1]) @ np.diff(EDGES)
        cost = time if rounds.timed else silent[:, -1]
        if len(arms) != rounds.arms.shape[1]:
            return cost, time
        ran = (np.sort(rounds.arms, axis=1) == np.sort(arms)).all(axis=1)
        ran &= rounds.sizes == len(arms)
        first = np.where(rounds.answered, rounds.times, 1.0).min(axis=1)
        count = MIXTURE + ran[self._drawn].sum(axis=0)
        paid, took = ((ran * each)[self._drawn].sum(axis=0) for each in (rounds.costs, first))
        return (MIXTURE * cost + paid) / count, (MIXTURE * time + took) / count

    def best(self, budget: int) -> BudgetEstimate:
        """The best arms of a budget, chosen one after another."""
        rounds, chosen = self.rounds, list[int]()
        everyone = range(len(rounds.names))
        for _ in range(budget):
            others = [arm for arm in everyone if arm not in chosen]
            costs = [self.together([*chosen, arm])[0].mean() for arm in others]
            chosen.append(others[int(np.argmin(costs))])
        cost, time = self.together(chosen)
        swaps = [
            [*(arm for arm in chosen if arm != out), new]
            for out in chosen
            for new in everyone
            if new not in chosen
        ]
        clear = all((self.together(swap)[0] > cost).mean() >= CLEAR for swap in swaps)
        arms = tuple(rounds.names[arm] for arm in chosen) if clear else ()
        same = rounds.sizes == budget
        realised = float(rounds.costs[same].mean()) if same.any() else None
        processor = _interval(budget * time)
        return BudgetEstimate(budget, _interval(cost), processor, arms, realised)


def _interval(values: FloatArray) -> Interval:
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
