"""HiGHS and SciPy, loaded where they are needed, and a linear program solved again and again."""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.core.errors import load_extra

PURPOSE = "solving linear programs with HiGHS"

# HiGHS takes entries below a thousandth of this for 0.
SMALLEST_ENTRY = 1e-9
# Its tolerances are absolute: objectives outside of this range are scaled first.
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
    """max objective · x over rows, for one objective after the other, warm-started."""

    def __init__(self, rows: Rows) -> None:
        highspy = load("highspy", PURPOSE)
        stored = load("scipy.sparse", PURPOSE).csr_array(rows.matrix)
        program = highspy.HighsLp()
        program.num_row_, program.num_col_ = stored.shape
        program.col_cost_ = np.zeros(stored.shape[1])
        program.col_lower_, program.col_upper_ = rows.lower, rows.upper
        program.row_lower_, program.row_upper_ = rows.row_lower, rows.row_upper
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = stored.indptr
        program.a_matrix_.index_ = stored.indices
        program.a_matrix_.value_ = stored.data
        program.sense_ = highspy.ObjSense.kMaximize
        self._status = highspy.HighsModelStatus
        self._solver = highspy.Highs()
        self._solver.setOptionValue("output_flag", False)
        self._solver.setOptionValue("small_matrix_value", SMALLEST_ENTRY / 1e3)
        self._solver.passModel(program)

    def add_row(self, lower: float, coefficients: FloatArray) -> None:
        """One more row, coefficients · x ≥ lower; the basis stays."""
        places = np.flatnonzero(coefficients).astype(np.int32)
        self._solver.addRow(lower, np.inf, len(places), places, coefficients[places])

    def maximize(self, objective: FloatArray) -> Optimum:
        """Solve for an objective."""
        unit = _power_of_two(float(np.abs(objective).max()))
        columns = np.arange(len(objective), dtype=np.int32)
        self._solver.changeColsCost(len(columns), columns, objective / unit)
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
            np.array(solution.col_value),
            float(self._solver.getInfo().objective_function_value) * unit,
            np.array(solution.row_dual) * unit,
        )


def _power_of_two(size: float) -> float:
    """A power of 2 near a size that HiGHS's tolerances are not made for; 1 for usual sizes."""
    if size == 0.0 or not np.isfinite(size) or _USUAL[0] <= size <= _USUAL[1]:
        return 1.0
    return float(2.0 ** np.round(np.log2(size)))
