"""Feasibility problems from files (MPS and LP models, tables of A and b), and what was found."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.feasibility.highs import load
from pickbest.feasibility.sets import Ball, Box, ConvexSet, Simplex
from pickbest.feasibility.solve import Feasibility

MODEL_SUFFIXES = (".mps", ".mps.gz", ".lp", ".lp.gz")
READING_MODELS = "reading MPS and LP files"
# Exit codes of `pickbest feasible`; 2 is for bad input, as in every command.
EXIT_CODES = {"feasible": 0, "infeasible": 3, "undecided": 4}
# What its summary has as `solve_feasibility` gives it.
SHOWN = ("epsilon", "budget", "width", "calls", "calls_bound", "stopped_early", "samples",
         "sampling_error", "worst_slack")  # fmt: skip


@dataclass(frozen=True)
class Model:
    """A x ≥ b over P, with the names of the constraints and variables.

    bound: what stands in for bounds that the model does not have; below, above: the variables, by
    number, that got it at the lower and at the upper end.
    """

    A: Any
    b: FloatArray
    convex: ConvexSet
    constraints: tuple[str, ...]
    variables: tuple[str, ...]
    bound: float | None = None
    below: frozenset[int] = frozenset()
    above: frozenset[int] = frozenset()


def is_model(path: Path) -> bool:
    """Whether the name is that of an MPS or LP file."""
    return path.name.lower().endswith(MODEL_SUFFIXES)


def read_model(
    path: str | Path, *, target: float | None = None, bound: float | None = None
) -> Model:
    """The rows of an MPS or LP file as constraints, its bounds of variables as the box P.

    target: also ask that the objective be at least this good (at most target where the file
        minimises, at least where it maximises); otherwise the objective is not used.
    bound: variables without a finite bound get this one, in absolute value. A verdict of
        infeasibility that needs it says so.
    Ranges and equations become two constraints each. Whole-number conditions are dropped.
    """
    path = Path(path)
    if not is_model(path):
        raise PickbestError(f"{path}: a model must end in .mps or .lp (or .mps.gz, .lp.gz)")
    if not path.is_file():
        raise PickbestError(f"{path}: no such file")
    highspy: Any = load("highspy", READING_MODELS)
    sparse: Any = load("scipy.sparse", READING_MODELS)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    if solver.readModel(str(path)) == highspy.HighsStatus.kError:
        raise PickbestError(f"{path}: HiGHS cannot read this file as a model")
    solver.ensureColwise()
    model = solver.getLp()
    stored = model.a_matrix_
    shape = (model.num_row_, model.num_col_)
    rows = sparse.csc_array((stored.value_, stored.index_, stored.start_), shape=shape).tocsr()
    lower, upper = np.array(model.row_lower_), np.array(model.row_upper_)
    names = [name or f"row {i + 1}" for i, name in enumerate(_padded(model.row_names_, shape[0]))]
    if target is not None:
        minimises = model.sense_ == highspy.ObjSense.kMinimize
        limit = target - model.offset_
        rows = sparse.vstack([rows, sparse.csr_array([model.col_cost_])]).tocsr()
        lower = np.append(lower, -np.inf if minimises else limit)
        upper = np.append(upper, limit if minimises else np.inf)
        names.append("objective")
    below, above = np.isfinite(lower), np.isfinite(upper)
    if not (below.any() or above.any()):
        raise PickbestError(f"{path}: the model has no rows, only bounds of variables")
    named = np.array(names, dtype=object)
    columns = _padded(model.col_names_, shape[1])
    least, most = np.array(model.col_lower_), np.array(model.col_upper_)
    return Model(
        A=sparse.vstack([rows[below], -rows[above]]).tocsr(),
        b=np.concatenate([lower[below], -upper[above]]),
        convex=_box(least, most, columns, bound),
        constraints=(
            *(f"{name} (at least)" for name in named[below]),
            *(f"{name} (at most)" for name in named[above]),
        ),
        variables=tuple(columns),
        bound=bound,
        below=frozenset(np.flatnonzero(~np.isfinite(least)).tolist()),
        above=frozenset(np.flatnonzero(~np.isfinite(most)).tolist()),
    )


def read_files(
    files: Sequence[Path],
    *,
    box: tuple[float, float] | None = None,
    simplex: float | None = None,
    ball: float | None = None,
    target: float | None = None,
    bound: float | None = None,
) -> Model:
    """The problem of a command line: one model, or A and b with the set that x lies in.

    Of box (low, high), simplex (total) and ball (radius, about 0), one may be given for A and b;
    none: the box from 0 to 1.
    """
    every = {"box": box, "simplex": simplex, "ball": ball}
    sets = [name for name, given in every.items() if given is not None]
    if len(files) == 1 and is_model(files[0]):
        if sets:
            raise PickbestError(f"--{sets[0]} is for A and b; a model has the bounds in its file")
        return read_model(files[0], target=target, bound=bound)
    if len(files) != 2:
        raise PickbestError(
            f"give one model (.mps, .lp), or two files, A and b, got {len(files)} "
            f"({', '.join(file.name for file in files)})"
        )
    if target is not None or bound is not None:
        raise PickbestError("--target and --bound are for models; A and b have neither")
    if len(sets) > 1:
        raise PickbestError(f"x can lie in one set: give --{sets[0]} or --{sets[1]}, not both")
    matrix, bounds = read_tables(*files)
    dimension = matrix.shape[1]
    convex: ConvexSet = Box.cube(dimension, *(box or (0.0, 1.0)))
    if simplex is not None:
        convex = Simplex(dimension, simplex)
    elif ball is not None:
        convex = Ball(np.zeros(dimension), ball)
    return Model(
        matrix,
        bounds,
        convex,
        tuple(f"row {i + 1}" for i in range(matrix.shape[0])),
        tuple(f"x{j + 1}" for j in range(dimension)),
    )


def read_tables(matrix_path: str | Path, bounds_path: str | Path) -> tuple[Any, FloatArray]:
    """(A, b) from .csv, .npy, or (A alone) a sparse .npz file of SciPy."""
    matrix_path, bounds_path = Path(matrix_path), Path(bounds_path)
    if matrix_path.suffix == ".npz":
        sparse: Any = load("scipy.sparse", "reading sparse matrices")
        try:
            return sparse.load_npz(matrix_path), _read_array(bounds_path).ravel()
        except (OSError, ValueError, KeyError) as error:
            raise PickbestError(f"{matrix_path}: not a sparse matrix of SciPy: {error}") from error
    return np.atleast_2d(_read_array(matrix_path)), _read_array(bounds_path).ravel()


def _read_array(path: Path) -> FloatArray:
    if not path.is_file():
        raise PickbestError(f"{path}: no such file")
    try:
        if path.suffix == ".npy":
            return np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)
        if path.suffix == ".csv":
            return np.loadtxt(path, delimiter=",", ndmin=2)
    except ValueError as error:
        raise PickbestError(
            f"{path}: must hold numbers, one row per constraint, no header: {error}"
        ) from error
    raise PickbestError(f"{path}: must be a .csv or .npy file (A also a sparse .npz)")


def _padded(names: list[str], count: int) -> list[str]:
    """Names of a model; files may leave them out."""
    return list(names) if len(names) == count else [f"x{j + 1}" for j in range(count)]


def _box(lower: FloatArray, upper: FloatArray, names: list[str], bound: float | None) -> Box:
    if bound is not None:
        if not 0.0 < bound < np.inf:
            raise PickbestError(f"bound must be a number above 0, got {bound!r}")
        lower = np.where(np.isfinite(lower), lower, -bound)
        upper = np.where(np.isfinite(upper), upper, bound)
    for j in np.flatnonzero(~(np.isfinite(lower) & np.isfinite(upper)))[:1]:
        raise PickbestError(
            f"variable {names[j]} has no finite bounds ({lower[j]:g} to {upper[j]:g}), and P must "
            "be bounded: add bounds to the file, or give one for all such variables"
        )
    return Box(lower, upper)


# What was found, in the names of the file ------------------------------------------------------


def feasibility_summary(model: Model, found: Feasibility) -> dict[str, Any]:
    """The verdict with its evidence: x, or the constraints that contradict each other."""
    summary: dict[str, Any] = {
        "status": found.status.value,
        "exit_code": EXIT_CODES[found.status.value],
        "n_constraints": len(model.b),
        "dimension": len(model.variables),
        **{name: getattr(found, name) for name in SHOWN},
        "worst_constraint": None,
        "x": None,
        "certificate": None,
        "bound": model.bound,
        "needs_bound_of": [],
    }
    if found.x is not None:
        worst = int(np.argmin(model.A @ found.x - model.b))
        summary["worst_constraint"] = model.constraints[worst]
        summary["x"] = dict(zip(model.variables, found.x.tolist(), strict=True))
    if found.certificate is not None:
        y = found.certificate.multipliers
        heaviest = np.argsort(-y, kind="stable")[: np.count_nonzero(y)]
        summary["certificate"] = {
            "value": found.certificate.value,
            "multipliers": {model.constraints[i]: float(y[i]) for i in heaviest},
        }
        summary["needs_bound_of"] = needing_the_bound(model, y)
    return summary


def needing_the_bound(model: Model, multipliers: FloatArray) -> list[str]:
    """Variables whose stand-in bound the certificate uses: without it, it proves nothing.

    The largest y · A x over a box is at the upper end where the sum of a column is positive.
    """
    sums = model.A.T @ multipliers
    used = [j for j in model.above if sums[j] > 0.0] + [j for j in model.below if sums[j] < 0.0]
    return [model.variables[j] for j in sorted(used)]


def write_solution(model: Model, x: FloatArray, path: Path) -> None:
    """x as a table of variables and values."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["variable", "value"])
        rows.writerows(zip(model.variables, x.tolist(), strict=True))
