"""Feasibility problems from files (MPS and LP models, tables of A and b), and what was found."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.core.savefile import arrays_from_npz, to_npz
from pickbest.feasibility.highs import load
from pickbest.feasibility.sets import Box
from pickbest.feasibility.solve import Feasibility

MODEL_SUFFIXES = (".mps", ".mps.gz", ".lp", ".lp.gz")
READING_MODELS = "reading MPS and LP files"
# What reading a model may take, and how much memory; more where the file is long.
READ_SECONDS, READ_SECONDS_PER_BYTE, READ_BYTES = 30.0, 2e-6, 4 * 1024**3
_READER = "import sys; from pickbest.feasibility.models import main; main(*sys.argv[1:])"
# Exit codes of `pickbest feasible`; 2 is for bad input, as in every command.
EXIT_CODES = {"feasible": 0, "infeasible": 3, "undecided": 4}
# What its summary has as `solve_feasibility` gives it.
SHOWN = ("epsilon", "budget", "width", "calls", "calls_bound", "samples", "worst_slack")


@dataclass(frozen=True)
class Model:
    """A x ≥ b over P, with the names of the constraints and variables.

    bound: what stands in for bounds that the model does not have; below, above: the variables, by
    number, that got it at the lower and at the upper end.
    """

    A: Any
    b: FloatArray
    convex: Box
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
    if not path.exists() or path.is_dir():
        raise PickbestError(f"{path}: no such file")
    load("highspy", READING_MODELS)
    sparse: Any = load("scipy.sparse", READING_MODELS)
    told, arrays = _read_by_highs(path)
    lower, upper = arrays["row_lower"], arrays["row_upper"]
    shape = (len(lower), len(arrays["col_lower"]))
    entries = (arrays["value"], arrays["index"], arrays["start"])
    rows = sparse.csc_array(entries, shape=shape).tocsr()
    names = [name or f"row {i + 1}" for i, name in enumerate(_padded(told["rows"], shape[0]))]
    if target is not None:
        minimises, limit = told["minimises"], target - told["offset"]
        rows = sparse.vstack([rows, sparse.csr_array([arrays["col_cost"]])]).tocsr()
        lower = np.append(lower, -np.inf if minimises else limit)
        upper = np.append(upper, limit if minimises else np.inf)
        names.append("objective")
    below, above = np.isfinite(lower), np.isfinite(upper)
    if not (below.any() or above.any()):
        raise PickbestError(f"{path}: the model has no rows, only bounds of variables")
    named = np.array(names, dtype=object)
    columns = _padded(told["columns"], shape[1])
    least, most = arrays["col_lower"], arrays["col_upper"]
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


def _read_by_highs(path: Path) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """What HiGHS reads in a file, in a process with limits: a damaged one may keep it for ever."""
    size = path.stat().st_size
    seconds = READ_SECONDS + size * READ_SECONDS_PER_BYTE
    words = [sys.executable, "-P", "-c", _READER, str(path), str(READ_BYTES + 100 * size)]
    searched = os.pathsep.join(entry for entry in sys.path if entry)
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            timeout=seconds,
            env=os.environ | {"PYTHONPATH": searched},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise PickbestError(
            f"{path}: HiGHS did not read this file as a model in {seconds:.0f} seconds"
        ) from error
    if done.returncode:
        raise PickbestError(f"{path}: HiGHS cannot read this file as a model")
    arrays = arrays_from_npz(done.stdout, READ_BYTES)
    return json.loads(arrays.pop("header").tobytes()), arrays


def main(path: str, most_bytes: str) -> None:
    """In that process: the model as npz on standard output, which HiGHS itself does not get."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (int(most_bytes),) * 2)
    highspy: Any = load("highspy", READING_MODELS)
    out = os.dup(1)
    os.dup2(2, 1)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    if solver.readModel(path) == highspy.HighsStatus.kError:
        raise SystemExit(1)
    solver.ensureColwise()
    model = solver.getLp()
    stored = model.a_matrix_
    told = {
        "rows": list(model.row_names_),
        "columns": list(model.col_names_),
        "minimises": model.sense_ == highspy.ObjSense.kMinimize,
        "offset": float(model.offset_),
    }
    floats = ("row_lower", "row_upper", "col_lower", "col_upper", "col_cost")
    arrays = {name: np.array(getattr(model, f"{name}_"), np.float64) for name in floats}
    arrays["value"] = np.array(stored.value_, np.float64)
    arrays["index"] = np.array(stored.index_, np.int64)
    arrays["start"] = np.array(stored.start_, np.int64)
    with open(out, "wb") as file:
        file.write(to_npz(told, arrays))


def read_files(
    files: Sequence[Path],
    *,
    box: tuple[float, float] | None = None,
    target: float | None = None,
    bound: float | None = None,
) -> Model:
    """The problem of a command line: one model, or A and b with the box (low, high) around x."""
    if len(files) == 1 and is_model(files[0]):
        if box is not None:
            raise PickbestError("--box is for A and b; a model has its own bounds")
        return read_model(files[0], target=target, bound=bound)
    if len(files) != 2:
        raise PickbestError(
            f"give one model (.mps, .lp), or two files, A and b, got {len(files)} "
            f"({', '.join(file.name for file in files)})"
        )
    if target is not None or bound is not None:
        raise PickbestError("--target and --bound are for models; A and b have neither")
    matrix, bounds = _read_array(files[0]), np.ravel(_read_array(files[1]))
    if matrix.ndim < 2:
        matrix = np.atleast_2d(matrix)
    dimension = matrix.shape[1]
    return Model(
        matrix,
        bounds,
        Box.cube(dimension, *(box or (0.0, 1.0))),
        tuple(f"row {i + 1}" for i in range(matrix.shape[0])),
        tuple(f"x{j + 1}" for j in range(dimension)),
    )


def _read_array(path: Path) -> Any:
    """A from .csv, .npy or a sparse .npz file of SciPy; b from one of the first two."""
    if not path.is_file():
        raise PickbestError(f"{path}: no such file")
    if not path.stat().st_size:
        raise PickbestError(f"{path}: the file is empty")
    try:
        if path.suffix == ".npz":
            return load("scipy.sparse", "reading sparse matrices").load_npz(path)
        if path.suffix == ".npy":
            return np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)
        if path.suffix == ".csv":
            return np.loadtxt(path, delimiter=",", ndmin=2)
    except (ValueError, KeyError) as error:
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
