"""The features of an ASlib scenario's instances, their costs, and how computing them went."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pickbest.core import FloatArray
from pickbest.environments.aslib.arff import Relation, read_arff
from pickbest.environments.aslib.runs import INSTANCE, OK, REPETITION, names_in

VALUES, COSTS = "feature_values.arff", "feature_costs.arff"
STATUS = "feature_runstatus.arff"


@dataclass(frozen=True)
class Features:
    """Means over repetitions, one row an instance: fields of Scenario."""

    feature_names: tuple[str, ...]
    features: FloatArray
    feature_steps: tuple[str, ...]
    feature_costs: FloatArray | None
    feature_ok: FloatArray | None


def read_features(folder: Path, instances: Sequence[str]) -> Features:
    """Read the feature files that are there; instances that they lack have NaN."""
    values, costs, status = (_read(folder / name) for name in (VALUES, COSTS, STATUS))
    names, table = _means(values, instances) if values else ((), np.empty((len(instances), 0)))
    found = [_means(relation, instances) if relation else None for relation in (costs, status)]
    steps = tuple(dict.fromkeys(name for part in found if part for name in part[0]))
    costs_of, ok_of = (_aligned(part, steps) if part else None for part in found)
    return Features(names, table, steps, costs_of, ok_of)


def _read(path: Path) -> Relation | None:
    return read_arff(path) if path.is_file() else None


def _means(relation: Relation, instances: Sequence[str]) -> tuple[tuple[str, ...], FloatArray]:
    """(names, means) of all columns but the instance's name and the repetition."""
    place_of = {name: place for place, name in enumerate(instances)}
    places = np.array([place_of.get(name, -1) for name in names_in(relation, INSTANCE)], dtype=int)
    columns = [
        column
        for column, name in enumerate(relation.names)
        if name.lower() not in {INSTANCE, REPETITION}
    ]
    means = np.full((len(instances), len(columns)), np.nan)
    for at, column in enumerate(columns):
        values = _column(relation, column)
        known = ~np.isnan(values) & (places >= 0)
        total = np.bincount(places[known], values[known], len(instances))
        count = np.bincount(places[known], minlength=len(instances))
        means[count > 0, at] = total[count > 0] / count[count > 0]
    return tuple(relation.names[column] for column in columns), means


def _column(relation: Relation, column: int) -> FloatArray:
    """Numbers; of statuses, whether they are ok."""
    if relation.path.name != STATUS:
        return relation.coded(column)
    return np.array(
        [np.nan if text is None else float(text.lower() == OK) for text in relation.texts(column)]
    )


def _aligned(part: tuple[tuple[str, ...], FloatArray], steps: Sequence[str]) -> FloatArray:
    names, means = part
    aligned = np.full((len(means), len(steps)), np.nan)
    aligned[:, [steps.index(name) for name in names]] = means
    return aligned
