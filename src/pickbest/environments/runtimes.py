"""Recorded runtimes: how many seconds each solver took on each problem.

A CSV file (or CSV.gz) has one row per problem: its name, columns of text (features), and one column
of seconds for each solver, empty where it gave no answer. A folder in the format of ASlib will do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.core.features import Feature, encoded_one
from pickbest.environments.aslib import RUNTIME, read_scenario
from pickbest.environments.table_files import TEXT_SUFFIXES, read_text_table
from pickbest.environments.tables import is_number


@dataclass(frozen=True, eq=False)
class Runtimes:
    """What every arm takes on every problem.

    seconds: (problems, arms); infinite where there is no answer.
    features: by name, one for each problem. cutoff: of the recording, where it is known.
    feature_seconds: (problems,) what computing the features takes, where it is known.
    """

    problems: tuple[str, ...]
    arms: tuple[str, ...]
    seconds: FloatArray
    features: Mapping[str, Sequence[Feature]]
    cutoff: float | None = None
    feature_seconds: FloatArray | None = None

    def charged(self) -> Runtimes:
        """As they are for whoever computes the features first."""
        if self.feature_seconds is None:
            return self
        return replace(self, seconds=self.seconds + self.feature_seconds[:, None])

    def encoded_features(self) -> FloatArray:
        """(problems, n_features), as learners take them."""
        if not self.features:
            raise PickbestError("these runtimes have no features: a column of text, or ASlib's")
        columns = [[encoded_one(name, one) for one in own] for name, own in self.features.items()]
        return np.ascontiguousarray(np.array(columns).T)


def read_runtimes(path: str | Path) -> Runtimes:
    """Read a file of runtimes, or a scenario of ASlib; every mistake is one sentence."""
    path = Path(path)
    if path.is_dir():
        scenario = read_scenario(path, RUNTIME)
        seconds = np.where(scenario.solved, scenario.performance, np.inf)
        features = dict(zip(scenario.feature_names, scenario.features.T.tolist(), strict=True))
        found = (scenario.instances, scenario.algorithms, seconds, features)
        return Runtimes(*found, scenario.cutoff, scenario.feature_seconds)
    if not path.exists():
        raise PickbestError(f"{path}: no such file")
    if not path.name.endswith(TEXT_SUFFIXES):
        raise PickbestError(f"{path}: runtimes stand in a file in {', '.join(TEXT_SUFFIXES)}")
    table = read_text_table(path)
    header, columns = table.names, [tuple(map(str, column)) for column in table.columns]
    if len(header) < 2:
        raise PickbestError(f"{path}: runtimes need a header, and columns of names and of seconds")
    if len(set(header)) < len(header):
        raise PickbestError(f"{path}: columns must have different names, got {', '.join(header)}")
    read = [[_seconds(cell) for cell in column] for column in columns]
    wrong = [place for place in range(1, len(header)) if None in read[place]]
    text = [place for place in wrong if not any(map(is_number, columns[place]))]
    first = max(text, default=0) + 1
    # Features stand before the solvers, and hold no numbers; all else is a solver with a bad cell.
    if first == len(header) or wrong != list(range(1, first)):
        row = read[wrong[-1]].index(None)
        raise PickbestError(
            f"{path}: columns of solvers must hold seconds of at least 0, or nothing; column "
            f"{header[wrong[-1]]!r} of row {row + 2} holds {columns[wrong[-1]][row]!r}"
        )
    seconds = np.ascontiguousarray(np.array(read[first:], np.float64).T)
    features = {header[place]: columns[place] for place in text}
    return Runtimes(columns[0], header[first:], seconds, features)


def _seconds(cell: str) -> float | None:
    """Infinite where there is no answer; None where the cell holds no seconds."""
    try:
        seconds = float(cell) if cell.strip() else math.inf
    except ValueError:
        return None
    return seconds if seconds >= 0.0 else None
