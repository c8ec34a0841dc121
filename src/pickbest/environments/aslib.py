"""Scenarios of ASlib, the algorithm selection library, in their own format.

A scenario is a folder with description.txt, algorithm_runs.arff and, where it has features,
feature_values.arff and feature_costs.arff. Instances become rounds, in the order of the runs;
algorithms become arms, in the order of their names.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pickbest.core import BoolArray, FloatArray, PickbestError, unknown_name
from pickbest.core.errors import load_extra
from pickbest.core.features import encoded_numbers
from pickbest.environments.arff import Relation, read_arff, read_text
from pickbest.environments.tables import Table
from pickbest.environments.with_features import WithFeatures

RUNTIME, QUALITY, SOLVED = "runtime", "quality", "solved"
COSTS = (SOLVED, RUNTIME, QUALITY)
DESCRIPTION, RUNS = "description.txt", "algorithm_runs.arff"
VALUES, FEATURE_COSTS = "feature_values.arff", "feature_costs.arff"
INSTANCE, ALGORITHM, STATUS, REPETITION = "instance_id", "algorithm", "runstatus", "repetition"

# Far beyond any real description: the largest has 21,000 characters.
MOST_CHARACTERS = 1_000_000
FLAGS = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True, eq=False)
class Scenario:
    """What every algorithm did on every instance, by one performance measure.

    measure: its name; kind is 'runtime' or 'quality', maximize whether more is better.
    cutoff: of runtimes, which an unsolved one counts as; None for qualities.
    performance: (instances, algorithms); qualities are NaN where unsolved.
    solved: (instances, algorithms), whether the status is ok and there is a value; for runtimes,
        one below the cutoff. Pairs without a run count as unsolved.
    features: (instances, n), NaN where missing.
    feature_seconds: (instances,) what computing the features took; 0 where nothing is known.
    """

    name: str
    measure: str
    kind: str
    maximize: bool
    cutoff: float | None
    instances: tuple[str, ...]
    algorithms: tuple[str, ...]
    performance: FloatArray
    solved: BoolArray
    feature_names: tuple[str, ...]
    features: FloatArray
    feature_seconds: FloatArray

    @property
    def default_cost(self) -> str:
        """'solved' for a runtime, 'quality' for a quality."""
        return SOLVED if self.kind == RUNTIME else QUALITY

    def costs(self, cost: str | None = None) -> Table:
        """A table of costs in [0, 1], one round per instance, one arm per algorithm.

        solved: 0 or, where unsolved, 1.
        runtime: min(runtime, cutoff) / cutoff, 1 where unsolved.
        quality: from 0, the best algorithm of the instance, to 1, its worst; 1 where unsolved;
            0 for all that solved an instance on which these do not differ.
        """
        cost = cost or self.default_cost
        if cost not in COSTS:
            raise unknown_name("cost", cost, COSTS)
        if cost not in {SOLVED, self.kind}:
            raise PickbestError(
                f"{self.name}: the measure {self.measure} is a {self.kind}; its cost is {SOLVED} "
                f"or {self.kind}, got {cost}: choose a measure that is a {cost}, if there is one"
            )
        if cost == SOLVED:
            values = 1.0 - self.solved
        elif self.cutoff is not None:
            values = self.performance / self.cutoff
        else:
            values = self._shortfall()
        return Table(np.clip(values, 0.0, 1.0), self.algorithms, f"ASlib {self.name}")

    def costs_with_features(self, cost: str | None = None) -> WithFeatures:
        """The costs that a player pays who sees the features, and these features.

        Computing them takes the sum of its steps, where the scenario gives it: a runtime is
        that much longer, and unsolved if it then exceeds the cutoff.
        """
        if not self.feature_names:
            raise PickbestError(f"{self.name}: the scenario has no features")
        charged = self
        if self.cutoff is not None:
            longer = np.minimum(self.performance + self.feature_seconds[:, None], self.cutoff)
            solved = self.solved & (longer < self.cutoff)
            charged = replace(self, performance=longer, solved=solved)
        features = encoded_numbers(self.features)
        return WithFeatures(charged.costs(cost), features, self.feature_names)

    def _shortfall(self) -> FloatArray:
        loss = -self.performance if self.maximize else self.performance
        best = np.min(loss, axis=1, keepdims=True, where=self.solved, initial=np.inf)
        worst = np.max(loss, axis=1, keepdims=True, where=self.solved, initial=-np.inf)
        spread = np.where(worst > best, worst - best, 1.0)
        return np.where(self.solved, (loss - best) / spread, 1.0)


def read_scenarios(folder: str | Path, measure: str | None = None) -> list[Scenario]:
    """All scenarios in the folders of a folder, in the order of the folders' names."""
    found = sorted(path.parent for path in Path(folder).glob(f"*/{DESCRIPTION}"))
    if not found:
        raise PickbestError(f"{folder}: no folder in it has a {DESCRIPTION} of ASlib")
    return [read_scenario(path, measure) for path in found]


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
    path = folder / DESCRIPTION
    entries = parse_yaml(read_text(path), str(path))
    chosen = _measure(entries, measure, path)
    cutoff = _cutoff(entries, path) if chosen.kind == RUNTIME else None
    instances, algorithms, performance, solved = _runs(folder / RUNS, chosen, cutoff)
    feature_names, features = _by_instance(folder / VALUES, instances)
    seconds = np.zeros(len(instances))
    if chosen.kind == RUNTIME:
        seconds = np.nansum(_by_instance(folder / FEATURE_COSTS, instances)[1], axis=1)
    name = str(entries.get("scenario_id") or folder.resolve().name)
    return Scenario(
        name, *chosen, cutoff, instances, algorithms, performance, solved, feature_names, features,
        seconds,
    )  # fmt: skip


# The description ---------------------------------------------------------------------------------


class Measure(NamedTuple):
    """A performance measure. kind: 'runtime' or 'quality'."""

    name: str
    kind: str
    maximize: bool


def _measure(entries: dict[str, Any], wanted: str | None, path: Path) -> Measure:
    """The measure of this name, or the first of this kind; the scenario's first if None."""
    keys = ("performance_measures", "performance_type", "maximize")
    names, types, flags = (_texts(entries, key) for key in keys)
    if not names or not len(names) == len(types) == len(flags):
        raise PickbestError(
            f"{path}: performance_measures, performance_type and maximize must have one value for "
            f"each measure, got {len(names)}, {len(types)} and {len(flags)}"
        )
    measures = []
    for name, kind, flag in zip(names, types, flags, strict=True):
        if flag.lower() not in FLAGS:
            raise PickbestError(f"{path}: maximize must be true or false, got {flag!r}")
        more = FLAGS[flag.lower()]
        # A runtime that is better when it is longer is a quality, whatever the file calls it.
        timed = kind.lower() == RUNTIME and not more
        measures.append(Measure(name, RUNTIME if timed else QUALITY, more))
    of_kind = [measure for measure in measures if measure.kind == wanted]
    for measure in [*(m for m in measures if wanted in (None, m.name)), *of_kind]:
        return measure
    raise PickbestError(f"{path}: {unknown_name('measure', str(wanted), names)}")


def parse_yaml(text: str, source: str = "text") -> dict[str, Any]:
    """A map of text, lists and maps. Every scalar stays text: an algorithm may be called 1e5.

    >>> parse_yaml("a: [x, 'y, z']\\nb:\\n- 1.0e+08\\nc:  # none")
    {'a': ['x', 'y, z'], 'b': ['1.0e+08'], 'c': ''}
    """
    yaml = load_extra("yaml", "aslib", "reading scenarios of ASlib", package="pyyaml")
    if len(text) > MOST_CHARACTERS:
        raise PickbestError(f"{source}: a description must have at most {MOST_CHARACTERS} letters")
    try:
        entries = yaml.load(text, yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError) as error:
        # Also nesting without end, or the number of a letter that there is not.
        said = " ".join(str(error).split())
        raise PickbestError(f"{source}: not the YAML of a description ({said})") from error
    if entries is not None and not isinstance(entries, dict):
        raise PickbestError(f"{source}, line 1: expected 'key: value', got {text[:60]!r}")
    return entries or {}


def _texts(entries: dict[str, Any], key: str) -> list[str]:
    """A list of texts; one alone is a list, too."""
    value = entries.get(key) or []
    return [str(item) for item in (value if isinstance(value, list) else [value])]


def _cutoff(entries: dict[str, Any], path: Path) -> float:
    text = entries.get("algorithm_cutoff_time")
    try:
        cutoff = float(str(text))
    except ValueError:
        cutoff = 0.0
    if not 0.0 < cutoff < float("inf"):
        raise PickbestError(
            f"{path}: algorithm_cutoff_time must be a number above 0 where runtimes are measured, "
            f"got {text!r}"
        )
    return cutoff


# The runs and features ---------------------------------------------------------------------------


def _runs(
    path: Path, measure: Measure, cutoff: float | None
) -> tuple[tuple[str, ...], tuple[str, ...], FloatArray, BoolArray]:
    """(instances, algorithms, performance, solved) of algorithm_runs.arff."""
    relation = read_arff(path)
    if not relation.rows:
        raise PickbestError(f"{path}: there are no runs after @data")
    instance_of, algorithm_of = (relation.labels(relation.place(c)) for c in (INSTANCE, ALGORITHM))
    _check_once(relation, [*zip(instance_of, algorithm_of, strict=True)])
    instances = {name: place for place, name in enumerate(dict.fromkeys(instance_of))}
    algorithms = {name: place for place, name in enumerate(sorted(set(algorithm_of)))}
    rows = np.array([instances[name] for name in instance_of])
    columns = np.array([algorithms[name] for name in algorithm_of])
    values = relation.numbers(relation.place(measure.name))
    statuses = relation.texts(relation.place(STATUS))
    ok = np.isfinite(values) & np.array([(text or "").lower() == "ok" for text in statuses])
    if cutoff is not None:
        ok &= values < cutoff
    shape = len(instances), len(algorithms)
    performance = np.full(shape, np.nan if cutoff is None else cutoff)
    solved = np.zeros(shape, np.bool_)
    performance[rows[ok], columns[ok]] = values[ok]
    solved[rows[ok], columns[ok]] = True
    return tuple(instances), tuple(algorithms), performance, solved


def _check_once(relation: Relation, keys: list[Any]) -> None:
    """Repetitions of a run, or of features, are not read."""
    seen = set()
    for key, line in zip(keys, relation.lines, strict=True):
        if key in seen:
            raise PickbestError(
                f"{relation.path}, line {line}: {key} must occur once; repetitions are not read"
            )
        seen.add(key)


def _by_instance(path: Path, instances: tuple[str, ...]) -> tuple[tuple[str, ...], FloatArray]:
    """(names, values) of all columns but the instance's name and the repetition."""
    if not path.is_file():
        return (), np.empty((len(instances), 0))
    relation = read_arff(path)
    named = relation.labels(relation.place(INSTANCE))
    _check_once(relation, named)
    row_of = {name: row for row, name in enumerate(named)}
    known = [place for place, name in enumerate(instances) if name in row_of]
    rows = [row_of[instances[place]] for place in known]
    names = [name for name in relation.names if name.lower() not in {INSTANCE, REPETITION}]
    values = np.full((len(instances), len(names)), np.nan)
    for column, name in enumerate(names):
        values[known, column] = relation.numbers(relation.names.index(name))[rows]
    return tuple(names), values
