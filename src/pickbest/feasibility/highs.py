"""HiGHS and SciPy, loaded where they are needed, and a linear program solved again and again."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from pickbest.core import FloatArray, IntArray, MissingExtraError, PickbestError

PURPOSE = "solving linear programs with HiGHS"


def load(module: str, purpose: str) -> Any:
    """A module of the extra `lp`, or one sentence that says how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(module.partition(".")[0], "lp", purpose) from error


def is_sparse(matrix: object) -> bool:
    """Whether this is a SciPy sparse matrix: none can exist where scipy.sparse is not loaded."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(matrix))


class EmptySetError(PickbestError):
    """No point satisfies the rows and bounds of the program."""


@dataclass(frozen=True)
class Optimum:
    """x, the objective's value there, and the change of that value with each row's bound."""

    x: FloatArray
    value: float
    row_duals: FloatArray


class LinearProgram:
    """A program whose objective changes, warm-started:

    max objective · x over row_lower ≤ rows · x ≤ row_upper and lower ≤ x ≤ upper.
    """

    def __init__(
        self,
        rows: Any,
        row_lower: FloatArray,
        row_upper: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> None:
        highspy = load("highspy", PURPOSE)
        stored = load("scipy.sparse", PURPOSE).csr_array(rows)
        program = highspy.HighsLp()
        program.num_row_, program.num_col_ = stored.shape
        program.col_cost_ = np.zeros(stored.shape[1])
        program.col_lower_, program.col_upper_ = lower, upper
        program.row_lower_, program.row_upper_ = row_lower, row_upper
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = stored.indptr
        program.a_matrix_.index_ = stored.indices
        program.a_matrix_.value_ = stored.data
        program.sense_ = highspy.ObjSense.kMaximize
        self._status = highspy.HighsModelStatus
        self._solver = highspy.Highs()
        self._solver.setOptionValue("output_flag", False)
        self._solver.passModel(program)

    def add_row(self, lower: float, coefficients: FloatArray) -> None:
        """One more row, coefficients · x ≥ lower; the basis stays."""
        places = np.flatnonzero(coefficients).astype(np.int32)
        self._solver.addRow(lower, np.inf, len(places), places, coefficients[places])

    def maximize(self, objective: FloatArray, columns: IntArray | None = None) -> Optimum:
        """Solve for an objective, given in full or for some columns (the others stay)."""
        if columns is None:
            columns = np.arange(len(objective))
        self._solver.changeColsCost(len(columns), columns.astype(np.int32), objective)
        self._solver.run()
        if self._solver.getModelStatus() != self._status.kOptimal:
            # A basis left over from another objective may mislead: judge from scratch.
            self._solver.clearSolver()
            self._solver.run()
        status = self._solver.getModelStatus()
        if status == self._status.kInfeasible:
            raise EmptySetError("the set P is empty: its rows and bounds contradict each other")
        if status in (self._status.kUnbounded, self._status.kUnboundedOrInfeasible):
            raise PickbestError("the set P is not bounded: give its variables finite bounds")
        if status != self._status.kOptimal:
            raise PickbestError(f"HiGHS did not solve a linear program over P: {status}")
        solution = self._solver.getSolution()
        return Optimum(
            np.array(solution.col_value),
            float(self._solver.getInfo().objective_function_value),
            np.array(solution.row_dual),
        )
