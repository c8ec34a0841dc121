"""Arms: command lines, Python functions and PySAT's solvers, each run in a process of its own."""

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from pickbest.core import PickbestError, unknown_name
from pickbest.core.errors import load_extra
from pickbest.portfolio.run.answers.dimacs import solve_by_pysat
from pickbest.portfolio.run.answers.handling import DIMACS, AnswerFormat, guess_format
from pickbest.portfolio.run.answers.reading import TEXT
from pickbest.portfolio.runs import Limits, Place, Run, Task

PLACEHOLDER = "{problem}"


@dataclass(frozen=True)
class Command(Place):
    """A command line; {problem} in any of its words is replaced by the problem.

    answer: how its answers are read; None: as the portfolio says, or the problem's name.
    """

    argv: tuple[str, ...]
    answer: AnswerFormat | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        words = all(isinstance(word, str) for word in self.argv)
        if not self.argv or not words or not self.argv[0]:
            raise PickbestError(
                f"a command must be a list of words like ['kissat', '{PLACEHOLDER}'], "
                f"got {list(self.argv)!r}"
            )

    def task(self, name: str, problem: Any, deadline: float, limits: Limits) -> Task:
        """What an engine needs to run it."""
        argv = tuple(word.replace(PLACEHOLDER, str(problem)) for word in self.argv)
        return Task(name, deadline, argv=argv, limits=limits, **_place(self))

    def solved(self, run: Run) -> bool:
        """Whether a run that ended on its own reports success."""
        return run.exit_code in (self.answer or TEXT).exit_codes


@dataclass(frozen=True)
class Function(Place):
    """A Python function of the problem; it answers by returning anything but None.

    The function must be importable (defined with def in a module, or an object that can be
    pickled), because it runs in another process. It may return None, booleans, numbers, text, and
    lists and dictionaries of them. Tuples and NumPy arrays come back as lists.

    preload: modules that it imports when it runs; they are then imported once, not every time.
    origin: its module and the folder where that lies, where it is not installed.
    answer: how its answers are read; None: as the portfolio says, else as they are.
    cwd, env: they hold when it is called, not yet when its module is imported.
    """

    function: Callable[[Any], Any]
    preload: tuple[str, ...] = ()
    answer: AnswerFormat | None = None
    origin: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _pickled(self.function, f"the function {self.function!r}")

    def task(self, name: str, problem: Any, deadline: float, limits: Limits) -> Task:
        call = _pickled((self.function, (problem,)), f"the problem of arm {name!r}")
        preload = (*((self.origin,) if self.origin else ()), *((each, "") for each in self.preload))
        return Task(name, deadline, call=call, preload=preload, limits=limits, **_place(self))

    def solved(self, run: Run) -> bool:
        return run.exit_code == 0 and run.answer is not None


Arm = Command | Function
ArmSpec = Arm | Callable[[Any], Any] | Sequence[str]


def as_arm(name: str, spec: ArmSpec) -> Arm:
    """An arm from a function, a list of words, or one that is made already.

    >>> as_arm("kissat", ["kissat", "-q", "{problem}"]).argv
    ('kissat', '-q', '{problem}')
    """
    if isinstance(spec, Arm):
        return spec
    if isinstance(spec, str):
        raise PickbestError(
            f"arm {name!r}: a command must be a list of words, not one string; split {spec!r}"
        )
    if callable(spec):
        return Function(spec)
    if isinstance(spec, Sequence):
        return Command(tuple(spec))
    raise PickbestError(f"arm {name!r} must be a function or a list of words, got {spec!r}")


def as_arms(specs: Mapping[str, ArmSpec]) -> dict[str, Arm]:
    """All arms of a portfolio by name."""
    if not isinstance(specs, Mapping) or not specs:
        raise PickbestError("arms must be a dictionary from names to functions or commands")
    return {str(name): as_arm(str(name), spec) for name, spec in specs.items()}


def answering(arm: Arm, answer: AnswerFormat | None, problem: Any) -> Arm:
    """An arm that knows its format: its own, else `answer`, else what the problem's name says.

    What a function returns is what it means: for functions, nothing is guessed.
    """
    if arm.answer is not None:
        return arm
    guessed = guess_format(problem) if isinstance(arm, Command) else TEXT
    return replace(arm, answer=answer or guessed)


def _pickled(thing: Any, what: str) -> bytes:
    try:
        return pickle.dumps(thing)
    except Exception as error:
        raise PickbestError(
            f"{what} must be picklable, as it goes to another process (define functions with "
            f"def in a module): {error}"
        ) from error


def _place(arm: Place) -> dict[str, Any]:
    """Where an arm runs, with what around it."""
    return {each.name: getattr(arm, each.name) for each in fields(Place)}


# PySAT's solvers (extra: sat) --------------------------------------------------------------------


def sat_solver(name: str) -> Function:
    """A solver of PySAT as an arm; the problem is a DIMACS file or a list of clauses.

    It answers ("SAT", model) or ("UNSAT", None). A model that does not satisfy every clause of
    the formula is wrong, never an answer.
    """
    if name not in sat_solver_names():
        raise unknown_name("SAT solver", name, sat_solver_names())
    solve = partial(solve_by_pysat, solver=name)
    return Function(solve, preload=("pysat.solvers",), answer=DIMACS)


def sat_solver_names() -> tuple[str, ...]:
    """The solvers that this PySAT offers."""
    solvers = load_extra("pysat.solvers", "sat", "a SAT solver as an arm", "python-sat")
    return tuple(name for name in vars(solvers.SolverNames) if not name.startswith("_"))


# What is wrong before anything runs ---------------------------------------------------------------


def check_problem(problem: Any) -> None:
    """Refuse the name of a file that is not there: that is nobody's failure but the caller's."""
    if names_file(problem) and not Path(problem).exists():
        raise PickbestError(f"{problem}: there is no such file")


def names_file(problem: Any) -> bool:
    """Whether a problem can only be a file: a Path, or text with a suffix that we know."""
    return isinstance(problem, Path) or guess_format(problem) is not TEXT
