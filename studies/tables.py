"""Recorded tables of a data folder: what was run on what, and how it went.

`aslib` holds scenarios of ASlib, `smtcomp22` divisions of SMT-COMP (seconds of every solver),
`limeqo` query hints (seconds), `models` which language model solved which problem, and
`paper_rewards` the paper's rewards. Whatever a folder lacks is left out.
"""

import csv
import gzip
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.environments import Table, read_table

# Of SMT-COMP's single query track, in seconds.
SMT_LIMIT = 1_200.0
# A hint that is slower than the best one by this factor costs 1.
SLOWEST = 16.0
# Of longer tables, every n-th row is kept.
MOST_ROUNDS = 1_000


@dataclass(frozen=True, eq=False)
class Division:
    """A division of SMT-COMP: its solvers, and for each problem its logic and shares of the limit.

    times: (problems, solvers); 1 is unsolved.
    """

    name: str
    solvers: tuple[str, ...]
    logics: tuple[str, ...]
    times: FloatArray

    def costs(self, kind: str = "solved") -> FloatArray:
        """kind: solved or runtime."""
        return self.times if kind == "runtime" else (self.times >= 1.0).astype(np.float64)


def divisions(data: Path) -> Iterator[Division]:
    """By name."""
    for path in sorted((data / "smtcomp22").glob("*.csv")):
        header, rows = _rows(path)
        seconds = np.array([[float(cell or math.inf) for cell in row[2:]] for row in rows])
        logics = tuple(row[1] for row in rows)
        times = np.minimum(seconds / SMT_LIMIT, 1.0)
        yield Division(path.stem, tuple(header[2:]), logics, times)


def hints(data: Path) -> Table | None:
    """Query hints; the cost is log2 of the slowdown, 1 from SLOWEST on."""
    path = data / "limeqo" / "ceb-seconds.csv"
    if not path.is_file():
        return None
    header, rows = _rows(path)
    seconds = np.array([[float(cell) for cell in row[1:]] for row in rows])
    slower = np.log2(seconds / seconds.min(axis=1, keepdims=True)) / math.log2(SLOWEST)
    return Table(np.minimum(slower, 1.0), tuple(header[1:]), "query-hints")


def models(data: Path) -> tuple[Table, FloatArray] | None:
    """Which model solved which problem, by date; and the price of each, in dollars per million
    tokens. A cost is the share of attempts that were wrong."""
    path = data / "models" / "code_execution.csv.gz"
    if not path.is_file():
        return None
    header, rows = _rows(path)
    names = tuple(header[1:])
    with (path.parent / "prices.csv").open(newline="", encoding="utf-8") as file:
        priced = {row["model"]: float(row["dollars_per_million_tokens"]) for row in
                  csv.DictReader(file)}  # fmt: skip
    if missing := [name for name in names if name not in priced]:
        raise PickbestError(f"{path.parent}/prices.csv must price every model, got none of "
                            f"{', '.join(missing)}")  # fmt: skip
    right = np.array([[float(cell) for cell in row[1:]] for row in rows])
    return Table(1.0 - right, names, "models"), np.array([priced[name] for name in names])


def model_questions(data: Path) -> FloatArray:
    """(problems, 2): what is known of a problem before any model is called: the number of its
    question, and of the sample."""
    _, rows = _rows(data / "models" / "code_execution.csv.gz")
    words = (row[0].removeprefix("q").split("-sample_") for row in rows)
    return np.array([[float(part) for part in each] for each in words])


def paper_rewards(data: Path) -> Table | None:
    """The paper's rewards, as costs."""
    path = data / "paper_rewards" / "rewards.csv"
    return read_table(path, rewards=True) if path.is_file() else None


def _rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """The header, and the rows, thinned to MOST_ROUNDS."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    header, *rows = list(csv.reader(text.splitlines()))
    return header, rows[:: math.ceil(len(rows) / MOST_ROUNDS)]
