"""HiGHS and SciPy, loaded where they are needed, and a linear program solved again and again."""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.core.errors import load_extra

PURPOSE = "solving linear programs with HiGHS"

# HiGHS takes entries below this for 0; it allows nothing smaller.
_SMALLEST_ENTRY = 1e-12
# Its tolerances are absolute: entries, or objectives, outside of this range are scaled first.
_USUAL = (1e-5, 1e5)


def load(module: str, purpose: str) -> Any:
    """A module of the extra `lp`, or one sentence that says how to get it."""
    return load_extra(module, "lp", purpose)


def is_sparse(matrix: object) -> bool:
    """Whether this is a SciPy sparse matrix: none can exist where scipy.sparse is not loaded."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(matrix))


@dataclass(frozen=True)
class Rows:
    """row_lower ≤ matrix · x ≤ row_upper and lower ≤ x ≤ upper."""

    matrix: Any
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True)
class Optimum:
    """x, the objective's value there, and the change of that value with each row's bound."""

    x: FloatArray
    value: float
    row_duals: FloatArray


class LinearProgram:
    """max objective · x over rows, for one objective after the other, warm-started.

    Rows and columns of very different size are scaled, by powers of 2, which loses nothing.
    coming: rows that will be added, if any, since they count in the columns' sizes.
    """

    def __init__(self, rows: Rows, coming: Any = None) -> None:
        highspy = load("highspy", PURPOSE)
        sparse = load("scipy.sparse", PURPOSE)
        stored = sparse.csr_array(rows.matrix)
        known = stored if coming is None else sparse.vstack([stored, sparse.csr_array(coming)])
        row_scale, self._column_scale = _scales(known)
        self._row_scale = row_scale[: stored.shape[0]]
        scaled = stored
        if not (np.all(self._row_scale == 1.0) and np.all(self._column_scale == 1.0)):
            scaled = sparse.csr_array(stored * self._row_scale[:, None] * self._column_scale)
        program = highspy.HighsLp()
        program.num_row_, program.num_col_ = scaled.shape
        program.col_cost_ = np.zeros(scaled.shape[1])
        program.col_lower_ = rows.lower / self._column_scale
        program.col_upper_ = rows.upper / self._column_scale
        program.row_lower_ = rows.row_lower * self._row_scale
        program.row_upper_ = rows.row_upper * self._row_scale
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = scaled.indptr
        program.a_matrix_.index_ = scaled.indices
        program.a_matrix_.value_ = scaled.data
        program.sense_ = highspy.ObjSense.kMaximize
        self._status = highspy.HighsModelStatus
        self._solver = highspy.Highs()
        self._solver.setOptionValue("output_flag", False)
        self._solver.setOptionValue("small_matrix_value", _SMALLEST_ENTRY)
        self._solver.passModel(program)

    def add_row(self, lower: float, coefficients: FloatArray) -> None:
        """One more row, coefficients · x ≥ lower; the basis stays."""
        scaled = coefficients * self._column_scale
        unit = _power_of_two(float(np.abs(scaled).max()))
        places = np.flatnonzero(scaled).astype(np.int32)
        self._solver.addRow(lower / unit, np.inf, len(places), places, scaled[places] / unit)
        self._row_scale = np.append(self._row_scale, 1.0 / unit)

    def maximize(self, objective: FloatArray) -> Optimum:
        """Solve for an objective."""
        costs = objective * self._column_scale
        unit = _power_of_two(float(np.abs(costs).max()))
        columns = np.arange(len(objective), dtype=np.int32)
        self._solver.changeColsCost(len(columns), columns, costs / unit)
        self._solver.run()
        if self._solver.getModelStatus() != self._status.kOptimal:
            # A basis left over from another objective may mislead: judge from scratch.
            self._solver.clearSolver()
            self._solver.run()
        status = self._solver.getModelStatus()
        if status == self._status.kInfeasible:
            raise PickbestError("the set P is empty: its rows and bounds contradict each other")
        if status in (self._status.kUnbounded, self._status.kUnboundedOrInfeasible):
            raise PickbestError("the set P is not bounded: give its variables finite bounds")
        if status != self._status.kOptimal:
            raise PickbestError(f"HiGHS did not solve a linear program over P: {status}")
        solution = self._solver.getSolution()
        return Optimum(
            np.array(solution.col_value) * self._column_scale,
            float(self._solver.getInfo().objective_function_value) * unit,
            np.array(solution.row_dual) * self._row_scale * unit,
        )


def _power_of_two(size: float) -> float:
    """A power of 2 near a size that HiGHS's tolerances are not made for; 1 for usual sizes."""
    if size == 0.0 or not np.isfinite(size) or _USUAL[0] <= size <= _USUAL[1]:
        return 1.0
    return float(2.0 ** np.round(np.log2(size)))


def _scales(rows: Any) -> tuple[FloatArray, FloatArray]:
    """(rows', columns'): powers of 2 that bring the nonzero entries of each nearer to 1.

    Each is divided by the geometric mean of its largest and smallest, rows and columns in turn
    (Fulkerson and Wolfe 1962). Ones where no entry is out of the usual range.
    """
    entries = rows.tocoo()
    (i, j), sizes = entries.coords, np.abs(entries.data)
    largest = np.zeros(rows.shape[0]), np.zeros(rows.shape[1])
    for own, places in zip(largest, (i, j), strict=True):
        np.maximum.at(own, places, sizes)
    # What is this much smaller than others in its row and in its column is noise.
    kept = sizes > 1e-14 * np.minimum(largest[0][i], largest[1][j])
    i, j, sizes = i[kept], j[kept], np.log2(sizes[kept])
    logs = np.zeros(rows.shape[0]), np.zeros(rows.shape[1])
    if len(sizes) and (sizes.min() < np.log2(_USUAL[0]) or sizes.max() > np.log2(_USUAL[1])):
        for _ in range(4):
            for own, places in zip(logs, (i, j), strict=True):
                now = sizes + logs[0][i] + logs[1][j]
                most, least = np.full(len(own), -np.inf), np.full(len(own), np.inf)
                np.maximum.at(most, places, now)
                np.minimum.at(least, places, now)
                seen = np.isfinite(most)
                own[seen] -= (most[seen] + least[seen]) / 2.0
    rows_by, columns_by = (np.ldexp(1.0, np.round(own).astype(np.int64)) for own in logs)
    return rows_by, columns_by
