"""Scenarios of ASlib, the algorithm selection library, in their own format.

A scenario is a folder with description.txt, algorithm_runs.arff and, where it has features,
feature_values.arff, feature_runstatus.arff and feature_costs.arff. Instances become rounds, in
the order of the runs; algorithms become arms, in the order of their names.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pickbest.core import FloatArray, PickbestError, unknown_name
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
# Version 1.0 writes a question mark as it is where YAML wants it in quotes.
BARE_QUESTION = re.compile(r"^(\s*(?:-|[^\s#'\"][^#\n]*:)[ \t]+)\?[ \t]*$", re.MULTILINE)
NOTHING = frozenset({"", "?", "~", "null", "none", "na"})
TRUE, FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})
# The limit where there is no cutoff and every solved run takes no time at all.
SHORTEST = 1e-9


@dataclass(frozen=True, eq=False)
class Scenario:
    """What every algorithm did on every instance, by one performance measure.

    measure: its name; kind is 'runtime' or 'quality', maximize whether more is better.
    cutoff: of runtimes; None where the scenario has none.
    limit: what an unsolved runtime counts as: the cutoff, or else the longest solved run.
    performance: (instances, algorithms), means over repetitions. An unsolved repetition counts
        as the limit if the kind is runtime, else not at all: NaN where none was solved.
    solved: (instances, algorithms), the share of repetitions with status ok and a value; for
        runtimes, one below the cutoff. Pairs without a run count as unsolved.
    features: (instances, n), means over repetitions, NaN where missing.
    feature_seconds: (instances,) what computing the features took; 0 where nothing is known.
    """

    name: str
    measure: str
    kind: str
    maximize: bool
    cutoff: float | None
    instances: tuple[str, ...]
    algorithms: tuple[str, ...]
    limit: float | None
    performance: FloatArray
    solved: FloatArray
    feature_names: tuple[str, ...]
    features: FloatArray
    feature_seconds: FloatArray

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
            raise PickbestError(
                f"{self.name}: the measure {self.measure} is a {self.kind}; its cost is {SOLVED} "
                f"or {self.kind}, got {cost}: choose a measure that is a {cost}, if there is one"
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
        charged = self
        if self.limit is not None:
            longer = self.performance + self.feature_seconds[:, None]
            solved = np.where(longer >= self.limit, 0.0, self.solved)
            charged = replace(self, performance=np.minimum(longer, self.limit), solved=solved)
        features = encoded_numbers(self.features)
        return WithFeatures(charged.costs(cost), features, self.feature_names)

    def _shortfall(self) -> FloatArray:
        loss = -self.performance if self.maximize else self.performance
        best = np.min(loss, axis=1, keepdims=True, where=self.solved > 0, initial=np.inf)
        worst = np.max(loss, axis=1, keepdims=True, where=self.solved > 0, initial=-np.inf)
        spread = np.where(worst > best, worst - best, 1.0)
        scaled = np.where(self.solved > 0, loss - best, 0.0) / spread
        return 1.0 - self.solved * (1.0 - scaled)


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
    instances, algorithms, limit, performance, solved = _runs(folder / RUNS, chosen, cutoff)
    feature_names, features = _means(folder / VALUES, instances)
    seconds = np.zeros(len(instances))
    if chosen.kind == RUNTIME:
        seconds = np.nansum(_means(folder / FEATURE_COSTS, instances)[1], axis=1)
    name = next(iter(_texts(entries.get("scenario_id"))), folder.resolve().name)
    return Scenario(
        name, *chosen, cutoff, instances, algorithms, limit, performance, solved,
        feature_names, features, seconds,
    )  # fmt: skip


# The description ---------------------------------------------------------------------------------


class Measure(NamedTuple):
    """A performance measure. kind: 'runtime' or 'quality'."""

    name: str
    kind: str
    maximize: bool


def _measure(entries: dict[str, Any], wanted: str | None, path: Path) -> Measure:
    """The measure of this name, or the first of this kind; the scenario's first if None."""
    names = _texts(entries.get("performance_measures"))
    if not names:
        raise PickbestError(f"{path}: performance_measures must name at least one measure")
    measures = []
    types = _each(entries, "performance_type", names, RUNTIME, path)
    flags = _each(entries, "maximize", names, "false", path)
    for name, kind, flag in zip(names, types, flags, strict=True):
        if flag.lower() not in TRUE | FALSE:
            raise PickbestError(f"{path}: maximize must be true or false, got {flag!r}")
        more = flag.lower() in TRUE
        # A runtime that is better when it is longer is a quality, whatever the file calls it.
        timed = kind.lower() == RUNTIME and not more
        measures.append(Measure(name, RUNTIME if timed else QUALITY, more))
    for measure in measures:
        if wanted in (None, measure.name):
            return measure
    for measure in measures:
        if wanted == measure.kind:
            return measure
    raise PickbestError(f"{path}: {unknown_name('measure', str(wanted), names)}")


def parse_yaml(text: str, source: str = "text") -> dict[str, Any]:
    """A map of text, lists and maps. Every scalar stays text: an algorithm may be called 1e5.

    >>> parse_yaml("a: [x, 'y, z']\\nb:\\n- 1.0e+08\\n- ?\\nc:  # none")
    {'a': ['x', 'y, z'], 'b': ['1.0e+08', '?'], 'c': ''}
    """
    yaml = load_extra("yaml", "aslib", "reading scenarios of ASlib", package="pyyaml")
    if len(text) > MOST_CHARACTERS:
        raise PickbestError(f"{source}: a description must have at most {MOST_CHARACTERS} letters")
    try:
        entries = yaml.load(BARE_QUESTION.sub(r"\1'?'", text).expandtabs(), yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError) as error:
        # Also nesting without end, or the number of a letter that there is not.
        said = " ".join(str(error).split())
        raise PickbestError(f"{source}: not the YAML of a description ({said})") from error
    if entries is not None and not isinstance(entries, dict):
        raise PickbestError(f"{source}, line 1: expected 'key: value', got {text[:60]!r}")
    return entries or {}


def _each(
    entries: dict[str, Any], key: str, measures: list[str], default: str, path: Path
) -> list[str]:
    """One value a measure; a single one holds for all."""
    values = _texts(entries.get(key)) or [default]
    if len(values) == 1:
        values *= len(measures)
    if len(values) != len(measures):
        raise PickbestError(
            f"{path}: {key} must have one value for each of {len(measures)} "
            f"performance_measures, got {len(values)}"
        )
    return values


def _texts(value: object) -> list[str]:
    """A list, or, as in version 1.0, text with commas."""
    items = value if isinstance(value, list) else str(value or "").split(",")
    texts = [str(item or "").strip() for item in items]
    return [text for text in texts if text.lower() not in NOTHING]


def _cutoff(entries: dict[str, Any], path: Path) -> float | None:
    texts = _texts(entries.get("algorithm_cutoff_time"))
    if not texts:
        return None
    try:
        cutoff = float(texts[0])
    except ValueError:
        raise PickbestError(
            f"{path}: algorithm_cutoff_time must be a number or ?, got {texts[0]!r}"
        ) from None
    return cutoff if 0.0 < cutoff < float("inf") else None


# The runs and features ---------------------------------------------------------------------------


def _runs(
    path: Path, measure: Measure, cutoff: float | None
) -> tuple[tuple[str, ...], tuple[str, ...], float | None, FloatArray, FloatArray]:
    """(instances, algorithms, limit, performance, solved) of algorithm_runs.arff.

    Rows with the same instance and algorithm are repetitions.
    """
    relation = read_arff(path)
    if not relation.rows:
        raise PickbestError(f"{path}: there are no runs after @data")
    instance_of, algorithm_of = _names_in(relation, INSTANCE), _names_in(relation, ALGORITHM)
    instances = {name: place for place, name in enumerate(dict.fromkeys(instance_of))}
    algorithms = {name: place for place, name in enumerate(sorted(set(algorithm_of)))}
    shape = len(instances), len(algorithms)
    rows = np.array([instances[name] for name in instance_of])
    cells = rows * shape[1] + np.array([algorithms[name] for name in algorithm_of])

    def sums(values: FloatArray) -> FloatArray:
        total = np.bincount(cells, values, shape[0] * shape[1])
        return total.astype(np.float64, copy=False).reshape(shape)

    values = relation.numbers(_place(relation, measure.name))
    statuses = relation.texts(_place(relation, STATUS))
    ok = np.isfinite(values) & np.array([(text or "").lower() == "ok" for text in statuses])
    runs = sums(np.ones(len(cells)))
    limit = None
    if measure.kind == RUNTIME:
        ok &= values < (cutoff or np.inf)
        limit = cutoff or max(float(values.max(initial=0.0, where=ok)), SHORTEST)
        total = sums(np.where(ok, values, limit))
        performance = np.where(runs > 0, total / np.maximum(runs, 1.0), limit)
    else:
        total, solved = sums(np.where(ok, values, 0.0)), sums(ok.astype(np.float64))
        performance = np.where(solved > 0, total / np.maximum(solved, 1.0), np.nan)
    share = sums(ok.astype(np.float64)) / np.maximum(runs, 1.0)
    return tuple(instances), tuple(algorithms), limit, performance, share


def _names_in(relation: Relation, column: str) -> list[str]:
    """A column of names, none of which may be missing."""
    names = relation.texts(_place(relation, column))
    for name, line in zip(names, relation.lines, strict=True):
        if not name:
            raise PickbestError(f"{relation.path}, line {line}: {column} must not be missing")
    return [name for name in names if name]


def _place(relation: Relation, column: str) -> int:
    place = relation.place(column)
    if place < 0:
        names = ", ".join(relation.names)
        raise PickbestError(f"{relation.path}: there must be an attribute {column}, got {names}")
    return place


def _means(path: Path, instances: Sequence[str]) -> tuple[tuple[str, ...], FloatArray]:
    """(names, means) of all columns but the instance's name and the repetition."""
    if not path.is_file():
        return (), np.empty((len(instances), 0))
    relation = read_arff(path)
    place_of = {name: place for place, name in enumerate(instances)}
    places = np.array([place_of.get(name, -1) for name in _names_in(relation, INSTANCE)], dtype=int)
    columns = [
        column
        for column, name in enumerate(relation.names)
        if name.lower() not in {INSTANCE, REPETITION}
    ]
    means = np.full((len(instances), len(columns)), np.nan)
    for at, column in enumerate(columns):
        values = relation.coded(column)
        known = ~np.isnan(values) & (places >= 0)
        total = np.bincount(places[known], values[known], len(instances))
        count = np.bincount(places[known], minlength=len(instances))
        means[count > 0, at] = total[count > 0] / count[count > 0]
    return tuple(relation.names[column] for column in columns), means
