"""Arms: command lines and Python functions, each run in a process of its own."""

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, runtime_checkable

from pickbest.core import PickbestError
from pickbest.portfolio.run.answers.formats import TEXT, guess_format
from pickbest.portfolio.run.answers.reading import AnswerFormat
from pickbest.portfolio.runs import Limits, Place, Run, RunStatus, Task

PLACEHOLDER = "{problem}"


@runtime_checkable
class Arm(Protocol):
    """Something that can be run on a problem.

    answer: how its answers are read; None: as the portfolio says, or the problem's name.
    """

    @property
    def answer(self) -> AnswerFormat | None: ...

    def task(self, name: str, problem: Any, deadline: float, limits: Limits) -> Task:
        """What an engine needs to run it."""
        ...

    def solved(self, run: Run) -> bool:
        """Whether a run that ended by itself reports success."""
        ...


@dataclass(frozen=True)
class Command(Place):
    """A command line; {problem} in any of its words is replaced by the problem.

    success: exit codes that do not mean a failure; None: those of the answer format.
    answer: how its answers are read; None: as the portfolio says, or the problem's name.
    """

    argv: tuple[str, ...]
    success: tuple[int, ...] | None = None
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
        argv = tuple(word.replace(PLACEHOLDER, str(problem)) for word in self.argv)
        return Task(name, deadline, argv=argv, **_around(self, limits))

    def solved(self, run: Run) -> bool:
        return run.exit_code in (self.success or (self.answer or TEXT).exit_codes)


@dataclass(frozen=True)
class Function(Place):
    """A Python function of the problem; it answers by returning anything but None.

    The function must be importable (defined with def in a module, or an object that can be
    pickled), because it runs in another process. What it may return: see `engine.values`.

    preload: modules that it imports when it runs; they are then imported once, not every time.
    answer: how its answers are read; None: as the portfolio says, else as they are.
    cwd, env, pass_env: they hold when it is called, not yet when its module is imported.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    preload: tuple[str, ...] = ()
    answer: AnswerFormat | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _pickled(self.function, f"the function {self.function!r}")

    def task(self, name: str, problem: Any, deadline: float, limits: Limits) -> Task:
        call = _pickled((self.function, (problem, *self.arguments)), f"the problem of arm {name!r}")
        return Task(name, deadline, call=call, preload=self.preload, **_around(self, limits))

    def solved(self, run: Run) -> bool:
        return run.exit_code == 0 and run.answer is not None


ArmSpec = Arm | Callable[[Any], Any] | Sequence[str]


def as_arm(name: str, spec: ArmSpec) -> Arm:
    """An arm from a function, a list of words, or an Arm.

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
    if isinstance(arm, Command) and arm.answer is None:
        return replace(arm, answer=answer or guess_format(problem))
    if isinstance(arm, Function) and arm.answer is None:
        return replace(arm, answer=answer or TEXT)
    return arm


def never_began(run: Run, arm: Arm) -> bool:
    """Whether a shell or the loader says that the program itself could not be run."""
    failed = run.status is RunStatus.FINISHED and not arm.solved(run)
    return failed and isinstance(arm, Command) and run.exit_code in (126, 127)


def failure(run: Run, arm: Arm) -> str:
    """Why a run that an engine reports failed; "" if it did not, or was made to end."""
    if run.status is RunStatus.BROKEN or never_began(run, arm):
        return f"cannot start: {run.reason or run.last_error or f'exit code {run.exit_code}'}"
    if run.status is not RunStatus.FINISHED:
        return ""
    if run.reason:
        return run.reason
    if run.exit_code is not None and run.exit_code < 0:
        return f"ended by signal {-run.exit_code}"
    if run.exit_code and not arm.solved(run):
        said = f": {run.last_error}" if run.last_error else ""
        if run.exit_code in (10, 20) and arm.answer is TEXT:
            said += '; SAT solvers answer so: set answer = "dimacs"'
        return f"exit code {run.exit_code}{said}"
    return ""


def _pickled(thing: Any, what: str) -> bytes:
    try:
        return pickle.dumps(thing)
    except Exception as error:
        raise PickbestError(
            f"{what} must be picklable, as it goes to another process (define functions with "
            f"def in a module): {error}"
        ) from error


def _around(arm: Place, limits: Limits) -> dict[str, Any]:
    """Where an arm runs, with what around it, and what it may use."""
    place = {each.name: getattr(arm, each.name) for each in fields(Place)}
    return place | {each.name: getattr(limits, each.name) for each in fields(limits)}
