"""What an ASlib scenario recorded: its runs as a table (instances, algorithms), its features."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.environments.aslib.arff import Relation, read_arff
from pickbest.environments.aslib.description import RUNTIME, Measure

OK, UNKNOWN = "ok", "?"
STATUSES = frozenset(
    {OK, "timeout", "memout", "not_applicable", "crash", "presolved", "unknown", "other"}
)
# The limit where there is no cutoff and every solved run takes no time at all.
SHORTEST = 1e-9
INSTANCE, ALGORITHM, STATUS, REPETITION = "instance_id", "algorithm", "runstatus", "repetition"
VALUES, COSTS = "feature_values.arff", "feature_costs.arff"


@dataclass(frozen=True)
class Runs:
    """All runs by one measure: fields of Scenario."""

    instances: tuple[str, ...]
    algorithms: tuple[str, ...]
    limit: float | None
    performance: FloatArray
    solved: FloatArray
    missing_runs: int
    repetitions: int
    statuses: Mapping[str, int]


def read_runs(path: Path, measure: Measure, cutoff: float | None) -> Runs:
    """Read algorithm_runs.arff. Rows with the same instance and algorithm are repetitions."""
    relation = read_arff(path)
    if not relation.rows:
        raise PickbestError(f"{path}: there are no runs after @data")
    instance_of, algorithm_of = names_in(relation, INSTANCE), names_in(relation, ALGORITHM)
    instances = {name: place for place, name in enumerate(dict.fromkeys(instance_of))}
    algorithms = {name: place for place, name in enumerate(sorted(set(algorithm_of)))}
    shape = len(instances), len(algorithms)
    rows = np.array([instances[name] for name in instance_of])
    cells = rows * shape[1] + np.array([algorithms[name] for name in algorithm_of])

    def sums(values: FloatArray) -> FloatArray:
        total = np.zeros(shape[0] * shape[1])
        np.add.at(total, cells, values)
        return total.reshape(shape)

    statuses = _statuses(relation)
    values = relation.numbers(_place(relation, measure.name))
    ok = np.isfinite(values) & np.array([status == OK for status in statuses])
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
    return Runs(
        instances=tuple(instances),
        algorithms=tuple(algorithms),
        limit=limit,
        performance=performance,
        solved=sums(ok.astype(np.float64)) / np.maximum(runs, 1.0),
        missing_runs=int((runs == 0).sum()),
        repetitions=int(runs.max()),
        statuses=dict(Counter(statuses)),
    )


def names_in(relation: Relation, column: str) -> list[str]:
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


def _statuses(relation: Relation) -> list[str]:
    place = _place(relation, STATUS)
    known = STATUSES | {value.lower() for value in relation.attributes[place].values}
    statuses = [UNKNOWN if text is None else text.lower() for text in relation.texts(place)]
    for status, line in zip(statuses, relation.lines, strict=True):
        if status not in known and status != UNKNOWN:
            raise PickbestError(
                f"{relation.path}, line {line}: {STATUS} must be one of "
                f"{', '.join(sorted(known))}, got {status!r}"
            )
    return statuses


@dataclass(frozen=True)
class Features:
    """Means over repetitions, one row per instance: fields of Scenario."""

    feature_names: tuple[str, ...]
    features: FloatArray
    feature_steps: tuple[str, ...]
    feature_costs: FloatArray | None


def read_features(folder: Path, instances: Sequence[str]) -> Features:
    """Read the feature files that are there; instances that they lack have NaN."""
    names, values = _means(folder / VALUES, instances)
    steps, costs = _means(folder / COSTS, instances)
    return Features(names, values, steps, costs if steps else None)


def _means(path: Path, instances: Sequence[str]) -> tuple[tuple[str, ...], FloatArray]:
    """(names, means) of all columns but the instance's name and the repetition."""
    if not path.is_file():
        return (), np.empty((len(instances), 0))
    relation = read_arff(path)
    place_of = {name: place for place, name in enumerate(instances)}
    places = np.array([place_of.get(name, -1) for name in names_in(relation, INSTANCE)], dtype=int)
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
