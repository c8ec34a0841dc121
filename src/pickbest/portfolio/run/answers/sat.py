"""PySAT's solvers as arms (extra: sat), each in a process of its own, every model checked."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pickbest.core import unknown_name
from pickbest.core.errors import load_extra
from pickbest.portfolio.run.answers.cnf import Clauses, read_dimacs
from pickbest.portfolio.run.answers.formats import DIMACS
from pickbest.portfolio.run.answers.reading import AnswerFormat
from pickbest.portfolio.run.arms import Function
from pickbest.portfolio.runs import Limits, Run, Task

# Solvers of one lineage differ least; these are of different ones, where the wheel has them.
DIVERSE = (
    "cadical195", "glucose4", "minisat22", "mergesat3", "maplechrono", "lingeling", "kissat404",
)  # fmt: skip


@dataclass(frozen=True)
class SatSolver:
    """A solver of PySAT by name; the problem is a DIMACS file or a list of clauses.

    It answers ("SAT", model) or ("UNSAT", None). A model that does not satisfy every clause
    is an error of the arm, never an answer.
    """

    solver: str
    answer: AnswerFormat = DIMACS

    def __post_init__(self) -> None:
        if self.solver not in solver_names():
            raise unknown_name("SAT solver", self.solver, solver_names())

    def task(self, name: str, problem: Any, deadline: float, limits: Limits) -> Task:
        function = Function(solve, (self.solver,), preload=("pysat.solvers",))
        return function.task(name, problem, deadline, limits)

    def solved(self, run: Run) -> bool:
        return run.exit_code == 0 and run.answer is not None


def solver_names() -> tuple[str, ...]:
    """The names of all solvers that this PySAT offers."""
    solvers = load_extra("pysat.solvers", "sat", "a SAT solver as an arm", "python-sat")
    return tuple(name for name in vars(solvers.SolverNames) if not name.startswith("_"))


def works(solver: str) -> bool:
    """Whether a solver is in this wheel and answers a small question."""
    from pysat.solvers import Solver

    try:
        with Solver(name=solver, bootstrap_with=[[1, 2], [-1]]) as built:
            return built.solve() is True and satisfies(built.get_model(), [[1, 2], [-1]])
    except Exception:
        return False


def solve(problem: Any, solver: str) -> tuple[str, list[int] | None]:
    """Solve a formula and check the model; runs in the arm's own process."""
    from pysat.solvers import Solver

    clauses = read_dimacs(Path(problem)) if isinstance(problem, str | Path) else problem
    with Solver(name=solver, bootstrap_with=clauses) as built:
        if not built.solve():
            return "UNSAT", None
        model = built.get_model() or []
    if not satisfies(model, clauses):
        raise RuntimeError(f"{solver} gave a model that does not satisfy the formula")
    return "SAT", model


def satisfies(model: list[int] | None, clauses: Clauses) -> bool:
    """Whether every clause has a literal that the model makes true."""
    true = set(model or ())
    return all(any(literal in true for literal in clause) for clause in clauses)
