"""Every verdict can fail: what becomes of each where something is broken on purpose.

MUTANTS is what can be broken; MATRIX says which parts are run with which, in games that are short
enough for a test. What was found lies in data/sabotage.csv, the report shows it, and the tests run
it again. To add a part: a line in MATRIX, then

    python -m pickbest.experiments.paper.sabotage
"""

import csv
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pickbest.core import Choice, Environment, Feedback, FloatArray, Learner, State
from pickbest.core.savefile import write_atomically
from pickbest.core.text import csv_text
from pickbest.core.wrapping import WrappingLearner
from pickbest.environments import Table
from pickbest.experiments.paper.experiment import HONEST, Sabotage, Setting
from pickbest.experiments.paper.recipes import recipe_named
from pickbest.experiments.paper.recorded_rewards import DATA, find_rewards
from pickbest.experiments.paper.run_parts import run_part
from pickbest.learners import FPML, Greedy
from pickbest.learners.baselines import Leaders, Uniform
from pickbest.report.document import Cell, Section, Table as Grid, Text, Verdict, alike

RECORDED = DATA / "sabotage.csv"
SHIFT = 0.05


@dataclass(frozen=True)
class Tampered(WrappingLearner):
    """A learner that is told something else than what happened."""

    inner: Learner
    told: Callable[[Learner, Choice, FloatArray], tuple[Choice, FloatArray]]
    unbiased = False

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        return self.inner.learn(state, *self.told(self.inner, choice, seen))


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


def noiseless(learner: Any) -> Any:
    return Leaders(learner.n_arms, learner.budget) if isinstance(learner, FPML) else learner


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


NOISELESS, UNIFORM = "leaders without noise", "arms at random"
TENFOLD, TENTH, ZERO = "ε × 10", "ε / 10", "ε → 0"
FEWER, MORE = "one arm fewer", "one arm more"
BIASED, SHIFTED, SWAPPED = "a biased estimate", "a shifted cost", "swapped slots"
MIXED, COPIED = "arms that swap their costs", "copies of the best arm"
EXACT = "exact estimates"
MUTANTS = {
    mutant.name: mutant
    for mutant in (
        HONEST,
        Sabotage(NOISELESS, noiseless, epsilon=1e9),
        Sabotage(UNIFORM, at_random),
        Sabotage(TENFOLD, scaled(10.0), epsilon=10.0),
        Sabotage(TENTH, scaled(0.1), epsilon=0.1),
        Sabotage(ZERO, scaled(1e-9), epsilon=1e-9),
        Sabotage(FEWER, more_arms(-1)),
        Sabotage(MORE, more_arms(1)),
        Sabotage(BIASED, unweighted),
        Sabotage(SHIFTED, environment=changed(shift)),
        Sabotage(SWAPPED, swapped),
        Sabotage(MIXED, environment=changed(reverse_arms)),
        Sabotage(COPIED, environment=changed(copy_best)),
        Sabotage(EXACT, exact_estimates=True),
    )
}


@dataclass(frozen=True)
class Trial:
    """A part in short games. options: instead of the recipe's own."""

    replicates: int
    mutants: Sequence[str]
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)


_NOISE = (TENFOLD, TENTH, ZERO)
_LEARNERS = (NOISELESS, UNIFORM, *_NOISE, FEWER)
_PRINTED = (UNIFORM, *_NOISE, FEWER, MORE, BIASED, SHIFTED, SWAPPED)
MATRIX: dict[str, Trial] = {
    "table-1": Trial(50, _PRINTED, {"budgets": [4]}),
    "table-2": Trial(50, _PRINTED, {"budgets": [2, 3]}),
    "task-3": Trial(50, (UNIFORM, *_NOISE, FEWER, BIASED, SWAPPED)),
    "measured": Trial(20, (UNIFORM, ZERO, FEWER, COPIED), {"budgets": [2, 4]}),
    "more-optimizers": Trial(20, (UNIFORM, ZERO, FEWER), {"budgets": [2, 4]}),
    "task-1": Trial(20, (UNIFORM, ZERO, FEWER), {"budgets": [2, 3], "rounds": 300}),
    "task-2": Trial(20, (UNIFORM, ZERO, FEWER), {"budgets": [2, 3], "rounds": 300}),
    "trade-off": Trial(
        60, _LEARNERS, {"n_arms": 32, "budgets": [1, 2, 3], "rounds": [100, 300, 1000, 3000]}
    ),
    "environments": Trial(10, _LEARNERS, {"n_arms": 16, "budgets": [1, 2], "rounds": 1000}),
    "worst-sequence": Trial(
        1, (TENFOLD, TENTH), {"budgets": [1, 2], "rounds": [50, 400], "constant_epsilon": 1.0}
    ),
    "constant-regret": Trial(
        20, _LEARNERS, {"n_arms": 32, "rounds": [100, 1000], "fixed_budget": 2}
    ),
    "markov": Trial(200, _LEARNERS, {"n_arms": 32, "budgets": [1, 2], "rounds": 1000}),
    "overtaking": Trial(10, (NOISELESS,)),
    "fresh-noise": Trial(10, (NOISELESS, UNIFORM, ZERO), {"rounds": 1000}),
    "deterministic": Trial(5, (UNIFORM, FEWER, MORE), {"n_arms": 6, "rounds": 300}),
    "uniform": Trial(100, (FEWER, MORE), {"n_arms": 6, "rounds": 300}),
    "halving": Trial(200, (MORE,), {"budgets": [1, 2], "log2_arms": [5, 7]}),
    "partial-feedback": Trial(20, (EXACT,)),
    "top-set": Trial(10, (MIXED,), {"budgets": [2], "rounds": 300, "hard_rounds": [1000, 2000]}),
    "hybrid": Trial(
        2, (UNIFORM, ZERO),
        {"n_arms": 128, "target_budget": 2, "slot_budgets": [2], "horizons": [[1000, 10000]]},
    ),
    "hybrid-jobs": Trial(1, (ZERO,), {"target_budget": 2, "rounds": [300, 3000]}),
    "linear-programs": Trial(
        3, _NOISE,
        {"budgets": [1], "families": ["zero-sum game"], "with_applications": False},
    ),
    "two-picks": Trial(
        20, (NOISELESS, UNIFORM, *_NOISE),
        {"n_arms": 16, "budgets": [2], "rounds": [100, 1000, 3000]},
    ),
    "two-draws": Trial(1, (TENTH, ZERO)),
}  # fmt: skip

Row = tuple[str, str, str, str]
"""(part, mutant, statement, verdict)."""


def verdicts_of(part: str, mutant: str) -> Iterator[Row]:
    """The verdicts of a part with a mutant in it."""
    trial, recipe = MATRIX[part], recipe_named(part)
    short = dataclasses.replace(recipe, options={**recipe.options, **trial.options})
    setting = Setting(0, trial.replicates, find_rewards(), MUTANTS[mutant])
    for block in run_part(short, setting).blocks:
        if isinstance(block, Verdict) and block.holds is not None:
            yield part, mutant, block.statement, "holds" if block.holds else "fails"


def recorded() -> list[Row]:
    """What was found."""
    with RECORDED.open(encoding="utf-8", newline="") as file:
        return [(part, mutant, what, verdict) for part, mutant, what, verdict in csv.reader(file)][
            1:
        ]


def matrix() -> Section:
    """What was found, for the report: each verdict, what turns it, and what it does not notice."""
    found = recorded()
    honest = {
        (part, what): verdict for part, mutant, what, verdict in found if mutant == HONEST.name
    }
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
        f"{len(MATRIX)} parts, in short games. A verdict that nothing turns would be worth "
        f"nothing; all {len(rows)} turn. What a verdict does not notice does not contradict its "
        "statement, or not in games of this size. The tests run the whole matrix again "
        "(`tests/experiments/paper/test_sabotage.py`)."
    )
    columns = alike("statement", "as it is", "turns with", "does not notice")
    table = Grid("sabotage", "What turns each verdict", columns, rows, wraps=True)
    return Section("sabotage", "The sabotage matrix", [Text(text), table])


def main() -> None:
    """Run the whole matrix and record it."""
    rows = [("part", "mutant", "statement", "verdict")]
    for part, trial in MATRIX.items():
        for mutant in (HONEST.name, *trial.mutants):
            rows += verdicts_of(part, mutant)
    write_atomically(RECORDED, csv_text(rows).encode())


if __name__ == "__main__":
    main()
