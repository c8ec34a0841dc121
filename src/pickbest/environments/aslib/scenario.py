"""Scenarios of ASlib, the algorithm selection library, in their own format.

A scenario is a folder with description.txt, algorithm_runs.arff and, where it has features,
feature_values.arff, feature_runstatus.arff and feature_costs.arff. Instances become rounds, in
the order of the runs; algorithms become arms, in the order of their names.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pickbest.core import FloatArray, PickbestError, unknown_name
from pickbest.core.features import encoded_numbers
from pickbest.environments.aslib.description import (
    QUALITY,
    RUNTIME,
    Description,
    Measure,
    read_description,
)
from pickbest.environments.aslib.runs import Features, Runs, read_features, read_runs
from pickbest.environments.tables import Table
from pickbest.environments.with_features import WithFeatures

SOLVED = "solved"
COSTS = (SOLVED, RUNTIME, QUALITY)
DESCRIPTION, RUNS = "description.txt", "algorithm_runs.arff"


@dataclass(frozen=True, eq=False, kw_only=True)
class Scenario(Runs, Features):
    """What every algorithm did on every instance, by one performance measure.

    measure: its name; kind is 'runtime' or 'quality', maximize whether more is better.
    cutoff: of runtimes; None where the scenario has none.
    limit: what an unsolved runtime counts as: the cutoff, or else the longest solved run.
    performance: (instances, algorithms), means over repetitions. An unsolved repetition counts
        as the limit if the kind is runtime, else not at all: NaN where none was solved.
    solved: (instances, algorithms), the share of repetitions with status ok and a value; for
        runtimes, one below the cutoff.
    missing_runs: pairs of instance and algorithm without a run; they count as unsolved.
    repetitions: the most that a pair has.
    statuses: how often each run status occurs.
    features: (instances, n), means over repetitions, NaN where missing.
    feature_costs: (instances, feature_steps), NaN where unknown; None without the file.
    """

    name: str
    measures: tuple[Measure, ...]
    measure: str
    kind: str
    maximize: bool
    cutoff: float | None
    description: Description

    @property
    def default_cost(self) -> str:
        """'solved' for a runtime, 'quality' for a quality."""
        return SOLVED if self.kind == RUNTIME else QUALITY

    def costs(self, cost: str | None = None) -> Table:
        """A table of costs in [0, 1], one round per instance, one arm per algorithm.

        solved: 1 - the share of repetitions solved.
        runtime: min(runtime, limit) / limit, 1 where unsolved; mean over repetitions.
        quality: from 0, the best algorithm of the instance, to 1, its worst; 1 where unsolved;
            0 for all that solved an instance on which these do not differ.
        """
        cost = cost or self.default_cost
        if cost not in COSTS:
            raise unknown_name("cost", cost, COSTS)
        if cost not in {SOLVED, self.kind}:
            others = [measure.name for measure in self.measures if measure.kind == cost]
            hint = f"; choose the measure {' or '.join(others)}" if others else ""
            raise PickbestError(
                f"{self.name}: the measure {self.measure} is a {self.kind}; its cost is "
                f"{SOLVED} or {self.kind}, got {cost}{hint}"
            )
        if cost == SOLVED:
            values = 1.0 - self.solved
        elif self.limit is not None:
            values = self.performance / self.limit
        else:
            values = self._shortfall()
        return Table(np.clip(values, 0.0, 1.0), self.algorithms, f"ASlib {self.name}")

    def costs_with_features(self, cost: str | None = None) -> WithFeatures:
        """The costs that a player pays who sees the features, and these features.

        Computing them takes the sum of its steps, where the scenario gives it: a runtime is
        that much longer, and unsolved if it then exceeds the limit.
        """
        if not self.feature_names:
            raise PickbestError(f"{self.name}: the scenario has no features")
        table = replace(self, performance=self._charged, solved=self._in_time).costs(cost)
        return WithFeatures(table, encoded_numbers(self.features), self.feature_names)

    @property
    def feature_seconds(self) -> FloatArray:
        """(instances,) what computing the features took; 0 where nothing is known."""
        if self.feature_costs is None or self.kind != RUNTIME:
            return np.zeros(len(self.instances))
        seconds: FloatArray = np.nansum(self.feature_costs, axis=1)
        return seconds

    @property
    def _charged(self) -> FloatArray:
        charged: FloatArray = self.performance + self.feature_seconds[:, None]
        return charged if self.limit is None else np.minimum(charged, self.limit)

    @property
    def _in_time(self) -> FloatArray:
        if self.limit is None:
            return self.solved
        late = self.performance + self.feature_seconds[:, None] >= self.limit
        return np.where(late, 0.0, self.solved)

    def par10(self) -> FloatArray:
        """(instances, algorithms) runtimes where an unsolved run counts as 10 limits."""
        if self.limit is None:
            raise PickbestError(
                f"{self.name}: PAR10 needs a runtime, the measure {self.measure} is a {self.kind}"
            )
        penalized: FloatArray = self.performance + 9.0 * self.limit * (1.0 - self.solved)
        return penalized

    def _shortfall(self) -> FloatArray:
        loss = -self.performance if self.maximize else self.performance
        best = np.min(loss, axis=1, keepdims=True, where=self.solved > 0, initial=np.inf)
        worst = np.max(loss, axis=1, keepdims=True, where=self.solved > 0, initial=-np.inf)
        spread = np.where(worst > best, worst - best, 1.0)
        scaled = np.where(self.solved > 0, loss - best, 0.0) / spread
        return 1.0 - self.solved * (1.0 - scaled)


def read_scenario(folder: str | Path, measure: str | None = None) -> Scenario:
    """Read a scenario.

    measure: the name of one of its performance measures, or 'runtime' or 'quality' for the
        first of that kind; the scenario's first if None.
    """
    folder = Path(folder)
    for name in (DESCRIPTION, RUNS):
        if not (folder / name).is_file():
            raise PickbestError(
                f"{folder}: not a scenario of ASlib: it must be a folder with {name}"
            )
    description = read_description(folder / DESCRIPTION)
    chosen = description.measure(measure)
    runs = read_runs(folder / RUNS, chosen, description.cutoff)
    return Scenario(
        name=description.name,
        measures=description.measures,
        measure=chosen.name,
        kind=chosen.kind,
        maximize=chosen.maximize,
        cutoff=description.cutoff if chosen.kind == RUNTIME else None,
        description=description,
        **vars(runs),
        **vars(read_features(folder, runs.instances)),
    )


def read_scenarios(folder: str | Path, measure: str | None = None) -> list[Scenario]:
    """All scenarios in the folders of a folder, in the order of the folders' names."""
    return [read_scenario(path, measure) for path in scenario_folders(folder)]


def scenario_folders(folder: str | Path) -> list[Path]:
    """The folder itself if it is a scenario, else those of its folders that are."""
    folder = Path(folder)
    if (folder / DESCRIPTION).is_file():
        return [folder]
    found = sorted(path.parent for path in folder.glob(f"*/{DESCRIPTION}"))
    if not found:
        raise PickbestError(
            f"{folder}: neither this folder nor one in it has a {DESCRIPTION} of ASlib"
        )
    return found
