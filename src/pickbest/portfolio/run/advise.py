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
from pickbest.learners.auto.kinds import EDGES, KindsState, survivals
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
_COUNTED = ("no", "one", "a second", "a third", "a fourth", "a fifth", "a sixth")


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
class Alone:
    """What one arm would have done, had it run alone on every problem.

    cost: as the portfolio counts it. par2: time to the answer in deadlines, 2 where there is none.
    answered: the share of problems that are answered by each of `kinds.EDGES`.
    """

    cost: Interval
    par2: Interval
    answered: FloatArray


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
    rounds = timed_rounds(entries)
    told = [e.record.runs for e in entries if isinstance(e.record, Finished)]
    runs = [run for each in told for run in each]
    stopped = sum(run.status is RunStatus.STOPPED for run in runs) / len(runs)
    known = sum(run.cost is not None for run in runs) / (len(told) * len(rounds.names))
    found = estimates(rounds, seed)
    said = sentence(found, budget, rounds.timed)
    return Advised(rounds.names, len(told), known, budget, stopped, found, said)


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


def estimates(rounds: Rounds, seed: int = 0) -> tuple[BudgetEstimate, ...]:
    """For every budget."""
    state, drawn = _folded(rounds, seed)
    n_arms = len(rounds.names)
    return tuple(_estimate(rounds, state, drawn, size) for size in range(1, n_arms + 1))


def arms_alone(rounds: Rounds, seed: int = 0) -> dict[str, Alone]:
    """For every arm, by name: runs that ended count as they are, stopped runs as expected.

    What a stopped run would have taken follows from the mixture, given how all arms of its round
    ended. Rounds in which an arm was unlikely to be picked count more.
    """
    state, drawn = _folded(rounds, seed)
    mass = state.mass / state.mass.sum(axis=1, keepdims=True)
    silent = survivals(state)  # (resamplings, kinds, arms, edges): not answered yet
    beyond = (0.5 * (silent[..., 1:] + silent[..., :-1]) * np.diff(EDGES))[..., ::-1]
    beyond = np.cumsum(beyond, axis=-1)[..., ::-1]  # time spent after the beginning of each bin
    bins = np.clip(np.searchsorted(EDGES, rounds.times, side="right") - 1, 0, len(EDGES) - 2)
    shape = (len(rounds.names), RESAMPLINGS)
    counts, times, failed = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    answered = np.zeros((*shape, len(EDGES)))
    repeats = np.stack([np.bincount(column, minlength=len(drawn)) for column in drawn.T], axis=1)
    for row, (arms, ends) in enumerate(zip(rounds.arms, bins, strict=True)):
        ran = [place for place, arm in enumerate(arms) if arm >= 0]
        kinds = mass.copy()
        for place in ran:
            left = silent[:, :, arms[place], ends[place]]
            after = silent[:, :, arms[place], ends[place] + 1]
            kinds *= left - after if rounds.answered[row, place] else left
        kinds /= kinds.sum(axis=1, keepdims=True)
        for place in ran:
            arm, end, time = arms[place], ends[place], rounds.times[row, place]
            weight = rounds.weights[row, place] * repeats[row]
            if rounds.answered[row, place] or time >= 1.0:
                took, fails = time, float(not rounds.answered[row, place])
                by_then = np.where(time <= EDGES, 1.0 - fails, 0.0)
            else:
                here = silent[:, :, arm, end]
                took = np.maximum(time, EDGES[end] + (kinds * beyond[:, :, arm, end] / here).sum(1))
                fails = (kinds * silent[:, :, arm, -1] / here).sum(axis=1)
                later = 1.0 - (kinds[..., None] * silent[:, :, arm] / here[..., None]).sum(axis=1)
                by_then = np.where(time <= EDGES, np.maximum(later, 0.0), 0.0)
            counts[arm] += weight
            times[arm] += weight * took
            failed[arm] += weight * fails
            answered[arm] += weight[:, None] * by_then
    # An arm that a resampling left out has the mixture's own time there.
    alone = (mass[..., None] * silent[..., -1]).sum(axis=1).T
    guess = (mass[..., None] * beyond[..., 0]).sum(axis=1).T
    times, failed = (
        np.where(counts > 0.0, total / np.maximum(counts, 1e-9), prior)
        for total, prior in ((times, guess), (failed, alone))
    )
    cost = times if rounds.timed else failed
    share = answered.sum(axis=1) / np.maximum(counts.sum(axis=1), 1e-9)[:, None]
    return {
        name: Alone(_interval(cost[arm]), _interval(times[arm] + failed[arm]), share[arm])
        for arm, name in enumerate(rounds.names)
    }


def _folded(rounds: Rounds, seed: int) -> tuple[KindsState, IntArray]:
    """The mixture of each resampling, and the rounds that were drawn: (rounds, resamplings)."""
    n_arms, count = len(rounds.names), len(rounds.costs)
    planner = Schedules(n_arms, min(rounds.arms.shape[1], n_arms))
    state = planner.start(RESAMPLINGS)
    drawn = np.random.default_rng(seed).integers(count, size=(count, RESAMPLINGS))
    for rows in np.tile(drawn, (PASSES, 1)):
        arms = rounds.arms[rows]
        seen = Runs(rounds.times[rows], rounds.answered[rows], arms >= 0)
        state = planner.learn_runs(state, Plans(arms, np.zeros(RESAMPLINGS)), seen)
    return state, drawn


def _estimate(rounds: Rounds, state: KindsState, drawn: IntArray, budget: int) -> BudgetEstimate:
    sets = np.sort(rounds.arms, axis=1)
    first = np.where(rounds.answered, rounds.times, 1.0).min(axis=1)
    survival = survivals(state)
    weights = state.mass / state.mass.sum(axis=1, keepdims=True)

    def judged(arms: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """(cost, time) in every resampling."""
        together = survival[:, :, list(arms)].prod(axis=2)
        middle = 0.5 * (together[:, :, 1:] + together[:, :, :-1])
        time = (weights * (middle @ np.diff(EDGES))).sum(axis=1)
        cost = time if rounds.timed else (weights * together[:, :, -1]).sum(axis=1)
        if len(arms) != sets.shape[1]:
            return cost, time
        ran = (sets == np.sort(arms)).all(axis=1) & (rounds.sizes == len(arms))
        count = MIXTURE + ran[drawn].sum(axis=0)
        paid, took = ((ran * each)[drawn].sum(axis=0) for each in (rounds.costs, first))
        return (MIXTURE * cost + paid) / count, (MIXTURE * time + took) / count

    chosen: list[int] = []
    for _ in range(budget):
        others = [arm for arm in range(len(rounds.names)) if arm not in chosen]
        chosen.append(min(others, key=lambda arm: float(judged([*chosen, arm])[0].mean())))
    cost, time = judged(chosen)
    swaps = [
        [*(arm for arm in chosen if arm != out), new]
        for out in chosen
        for new in range(len(rounds.names))
        if new not in chosen
    ]
    clear = all((judged(swap)[0] > cost).mean() >= CLEAR for swap in swaps)
    same = rounds.sizes == budget
    best = tuple(rounds.names[arm] for arm in chosen) if clear else ()
    realised = float(rounds.costs[same].mean()) if same.any() else None
    return BudgetEstimate(budget, _interval(cost), _interval(budget * time), best, realised)


def _interval(values: FloatArray) -> Interval:
    low, high = np.quantile(values, [0.05, 0.95])
    return Interval(float(values.mean()), float(low), float(high))


def sentence(found: Sequence[BudgetEstimate], budget: int, timed: bool) -> str:
    """The advice: what one arm more would bring, or one less would lose."""
    by_size = {each.budget: each for each in found}
    if budget not in by_size:
        return f"of {len(found)} arms enough is known: too few to say what {budget} of them cost"
    now, more, less = by_size[budget], by_size.get(budget + 1), by_size.get(budget - 1)
    what = "of the time" if timed else "of the failures"
    nth = _COUNTED[budget + 1] if budget + 1 < len(_COUNTED) else f"arm number {budget + 1}"
    if more is not None:
        saved, paid = 1.0 - more.cost.mean / now.cost.mean, more.processor.mean / now.processor.mean
        if more.cost.high < now.cost.mean and saved > 0.0:
            return (
                f"{nth} arm would save about {saved:.0%} {what} for "
                f"{abs(paid - 1.0):.0%} {'more' if paid >= 1.0 else 'less'} processor time"
            ).capitalize()
    if less is not None and less.cost.low <= now.cost.mean:
        spared = 1.0 - less.processor.mean / now.processor.mean
        return (
            f"one arm less would cost about as much, for {spared:.0%} less processor time"
        ).capitalize()
    if more is None:
        return "All arms run already, and one less would cost more"
    return f"These rounds do not tell whether {nth} arm would save anything"
