"""Every verdict can fail: what becomes of each where something is broken on purpose.

MUTANTS is what can be broken; data/recipes.toml says which parts are run with which, in games that
are short enough for a test. What was found lies in data/sabotage.csv, the report shows it, and the
tests run it again. To add a part: its `trial` there, then `python -m studies sabotage --record`.
"""

import csv
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Environment,
    Feedback,
    FloatArray,
    IntArray,
    Learner,
    Seen,
    State,
    unknown_name,
)
from pickbest.core.progress import Progress
from pickbest.core.savefile import write_atomically
from pickbest.core.text import csv_text
from pickbest.core.workers import each_finished
from pickbest.core.wrapping import WrappingLearner
from pickbest.environments import Table
from pickbest.kernels.rules import weights_of
from pickbest.learners import FPML, Greedy, Hedge, HedgePartial
from pickbest.learners.baselines import Leaders, Uniform
from pickbest.report.document import Cell, Section, Table as Grid, Text, Verdict, alike
from studies.paper.experiment import HONEST, Sabotage, Setting
from studies.paper.recipes import TRIALS, mutants_of, recipe_named, run_part
from studies.paper.recorded_rewards import DATA, find_rewards

RECORDED = DATA / "sabotage.csv"
SHIFT = 0.05


@dataclass(frozen=True)
class Tampered(WrappingLearner):
    """A learner that is told something else than what happened."""

    inner: Learner
    told: Callable[[Learner, Choice, FloatArray], tuple[Choice, FloatArray]]
    unbiased = False

    def learn(
        self, state: State, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> State:
        told, costs = self.told(self.inner, choice, seen.high)
        return self.inner.learn(state, told, seen._replace(low=costs, high=costs))


class Skipped(NamedTuple):
    """rounds: how many were told; state: the learner's."""

    rounds: IntArray
    state: State


@dataclass(frozen=True)
class Skipping(WrappingLearner):
    """A learner that learns from the first of every `every` rounds only; 0: from none."""

    inner: Learner
    every: int

    def start(self, replicates: int) -> Skipped:
        return Skipped(np.zeros(replicates, np.int64), self.inner.start(replicates))

    def pick(self, state: Skipped, draws: Draws, features: FloatArray | None = None) -> Choice:
        return self.inner.pick(state.state, draws)

    def learn(
        self, state: Skipped, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> Skipped:
        told = self.every > 0 and state.rounds[0] % self.every == 0
        inner = self.inner.learn(state.state, choice, seen) if told else state.state
        return Skipped(state.rounds + 1, inner)


def skipping(every: int) -> Callable[[Any], Any]:
    return lambda learner: Skipping(learner, every)


def scaled(factor: float) -> Callable[[Any], Any]:
    """The noise's ε (or the rate) of a learner, or of the learner in its slots, times a factor."""

    def change(learner: Any) -> Any:
        for name in ("epsilon", "rate"):
            if hasattr(learner, name):
                return dataclasses.replace(learner, **{name: factor * getattr(learner, name)})
        if hasattr(learner, "inner"):
            return dataclasses.replace(learner, inner=change(learner.inner))
        return learner

    return change


def more_arms(extra: int) -> Callable[[Any], Any]:
    """A budget that is larger or smaller, but at least 1 and below the number of arms."""

    def change(learner: Any) -> Any:
        if hasattr(learner, "inner"):
            return dataclasses.replace(learner, slots=max(1, learner.slots + extra))
        budget = min(max(1, learner.budget + extra), learner.n_arms - 1)
        return dataclasses.replace(learner, budget=budget)

    return change


def overrated(learner: Any) -> Any:
    """Wrong probabilities of looking at an arm: all the same."""

    def told(inner: Learner, choice: Choice, seen: FloatArray) -> tuple[Choice, FloatArray]:
        return Choice(choice.arms, np.sign(weights_of(choice)) * inner.n_arms), seen

    return Tampered(learner, told) if learner.feedback is Feedback.PICKED else learner


def misplaced(learner: Any) -> Any:
    """A wrong τ: the law of hedge-partial is solved for another stretch."""
    return dataclasses.replace(learner, stretch=8.0) if hasattr(learner, "stretch") else learner


def unprepared(learner: Any) -> Any:
    """A prior that is ignored."""
    return dataclasses.replace(learner, prior=None) if hasattr(learner, "prior") else learner


@dataclass(frozen=True)
class MisWatched(WrappingLearner):
    """A learner that is told that a watched race was sure to be: a chance that the coin decides."""

    inner: Learner

    def learn(
        self, state: State, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> State:
        if seen.watch is not None and seen.watched is not None:
            seen = seen._replace(watch=np.where(seen.watched, 1.0, seen.watch))
        return self.inner.learn(state, choice, seen)


def miswatched(learner: Any) -> Any:
    return MisWatched(learner) if isinstance(learner, HedgePartial) else learner


def noiseless(learner: Any) -> Any:
    return Leaders(learner.n_arms, learner.budget) if isinstance(learner, FPML | Hedge) else learner


def at_random(learner: Any) -> Any:
    return Uniform(learner.n_arms, learner.budget)


def unweighted(learner: Any) -> Any:
    """Costs of picked arms are learned as they are: a biased estimate."""
    told = lambda _, choice, seen: (Choice(choice.arms, np.ones(choice.arms.shape)), seen)  # noqa: E731
    return Tampered(learner, told) if learner.feedback is Feedback.PICKED else learner


def swapped(learner: Any) -> Any:
    """Slots are told in reverse what the arms of their round cost."""
    told = lambda _, choice, seen: (choice, seen[:, ::-1])  # noqa: E731
    picked = isinstance(learner, Greedy) and learner.feedback is Feedback.PICKED
    return Tampered(learner, told) if picked else learner


def changed(change: Callable[[FloatArray], None]) -> Callable[[Environment], Environment]:
    """A table with its costs changed in place; other environments as they are."""

    def changing(environment: Environment) -> Environment:
        if not isinstance(environment, Table):
            return environment
        costs = environment.costs_table.copy()
        change(costs)
        return Table(costs, environment.arm_names)

    return changing


def shift(costs: FloatArray) -> None:
    """Every cost is a little larger."""
    np.minimum(costs + SHIFT, 1.0, out=costs)


def reverse_arms(costs: FloatArray) -> None:
    """The costs of the arms are dealt out in reverse order in every other round."""
    costs[::2] = costs[::2, ::-1].copy()


def copy_best(costs: FloatArray) -> None:
    """The next best arms become copies of the best one."""
    best, *others = np.argsort(costs.sum(axis=0))[:3]
    costs[:, others] = costs[:, [best]]


MUTANTS = {
    mutant.name: mutant
    for mutant in (
        HONEST,
        Sabotage("leaders without noise", noiseless, epsilon=1e9),
        Sabotage("arms at random", at_random),
        Sabotage("ε × 10", scaled(10.0), epsilon=10.0),
        Sabotage("ε / 10", scaled(0.1), epsilon=0.1),
        Sabotage("ε → 0", scaled(1e-9), epsilon=1e-9),
        Sabotage("one arm fewer", more_arms(-1)),
        Sabotage("one arm more", more_arms(1)),
        Sabotage("a biased estimate", unweighted),
        Sabotage("a shifted cost", environment=changed(shift)),
        Sabotage("swapped slots", swapped),
        Sabotage("arms that swap their costs", environment=changed(reverse_arms)),
        Sabotage("copies of the best arm", environment=changed(copy_best)),
        Sabotage("exact estimates", exact_estimates=True),
        Sabotage("half of the feedback", skipping(2)),
        Sabotage("nothing is learned", skipping(0)),
        Sabotage("twice the rate", scaled(2.0), epsilon=2.0),
        Sabotage("wrong Q", overrated),
        Sabotage("wrong τ", misplaced),
        Sabotage("an ignored prior", unprepared),
        Sabotage("w_t that depends on the coin", miswatched),
    )
}

Row = tuple[str, str, str, str]
"""(part, mutant, statement, verdict)."""


def verdicts_of(part: str, mutant: str) -> Iterator[Row]:
    """The verdicts of a part with a mutant in it."""
    trial, recipe = TRIALS[part], recipe_named(part)
    short = dataclasses.replace(recipe, options={**recipe.options, **trial.options})
    setting = Setting(0, trial.replicates, find_rewards(), MUTANTS[mutant])
    words = {True: "holds", False: "fails", None: "not judged"}
    for block in run_part(short, setting).blocks:
        if isinstance(block, Verdict):
            yield part, mutant, block.statement, words[block.holds]


def recorded() -> list[Row]:
    """What was found."""
    with RECORDED.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return [(part, mutant, statement, verdict) for part, mutant, statement, verdict in rows]


def matrix() -> Section:
    """What was found, for the report: each verdict, what turns it, and what it does not notice."""
    found = recorded()
    honest = {(part, what): v for part, mutant, what, v in found if mutant == HONEST.name}
    rows: list[list[Cell]] = []
    for (part, statement), verdict in honest.items():
        met = [(m, v) for p, m, what, v in found if (p, what) == (part, statement) and m in MUTANTS]
        turns = [mutant for mutant, other in met if other != verdict]
        stays = [m for m, other in met if other == verdict and m != HONEST.name]
        # Each name on one line.
        together = [", ".join(n.replace(" ", "\u00a0") for n in own) for own in (turns, stays)]
        rows.append([statement, verdict, *together])
    text = (
        f"Each part was run again with something broken on purpose: {len(found)} verdicts of "
        f"{len(TRIALS)} parts, in short games. A verdict that nothing turns would be worth "
        f"nothing; all {len(rows)} turn. What a verdict does not notice does not contradict its "
        "statement, or not in games of this size. The tests run the whole matrix again "
        "(`tests/studies/paper/test_sabotage.py`)."
    )
    columns = alike("statement", "as it is", "turns with", "does not notice")
    table = Grid("sabotage", "What turns each verdict", columns, rows, wraps=True)
    return Section("sabotage", "The sabotage matrix", [Text(text), table])


def run_trials(
    parts: Sequence[str], workers: int = 1, progress: Progress | None = None
) -> list[Row]:
    """The verdicts of these parts with every mutant, in the order of the record; all if none."""
    for part in parts:
        if part not in TRIALS:
            raise unknown_name("part", part, TRIALS)
    chosen = [part for part in TRIALS if not parts or part in parts]
    trials = [(part, mutant) for part in chosen for mutant in (HONEST.name, *mutants_of(part))]
    found: dict[tuple[str, str], list[Row]] = {}
    for trial, rows in each_finished(_run_trial, trials, workers, lambda _: 1.0):
        found[trial] = rows
        if progress:
            progress(len(found), len(trials), " with ".join(trial))
    return [row for trial in trials for row in found[trial]]


def _run_trial(trial: tuple[str, str]) -> list[Row]:
    return list(verdicts_of(*trial))


def differences(rows: Sequence[Row]) -> list[Row]:
    """Those of the rows, and of what is recorded of the same parts, that the other lacks."""
    parts = {part for part, *_ in rows}
    expected = [row for row in recorded() if row[0] in parts]
    return [row for row in rows if row not in expected] + [
        row for row in expected if row not in rows
    ]


def record_rows(rows: Sequence[Row]) -> None:
    """Write what was found to where `recorded` reads it."""
    header = ("part", "mutant", "statement", "verdict")
    write_atomically(RECORDED, csv_text([header, *rows]).encode())
