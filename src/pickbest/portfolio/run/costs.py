"""From what an arm did to a cost in [0, 1]: solved or not, runtime, quality, or your own.

A cost also says what is known when a run was stopped early: the lowest and the highest cost
that it could still have had.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

from pickbest.core import PickbestError, unknown_name
from pickbest.portfolio.run.answers.reading import BadAnswerError
from pickbest.portfolio.runs import Run, RunStatus

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a run costs, and what its answer is worth.

    accepted: the answer may win the round. ends_race: with stop="first", nobody need go on.
    value: the number that the cost came from.
    """

    cost: float
    accepted: bool
    ends_race: bool
    value: float | None = None


@dataclass(frozen=True)
class Solved:
    """0 if solved in time, else 1."""

    def of(self, seconds: float, deadline: float) -> float:
        """What an answer after this many seconds costs; never less than an earlier one."""
        return 0.0

    def judge(self, run: Run, solved: bool, deadline: float) -> Judgement:
        """The cost of a run that was not stopped; solved: whether the arm reports success."""
        return Judgement(self.of(run.seconds, deadline) if solved else 1.0, solved, solved)

    def span(self, run: Run, deadline: float) -> Span:
        """(lowest, highest) cost that a run stopped early could have had."""
        # It had not answered yet, so it costs at least what an answer would have cost then.
        return self.of(run.seconds, deadline), 1.0


@dataclass(frozen=True)
class Runtime(Solved):
    """Runtime / deadline if solved, else 1."""

    def of(self, seconds: float, deadline: float) -> float:
        return min(seconds / deadline, 1.0)


@dataclass(frozen=True)
class LogRuntime(Solved):
    """Where the runtime lies between a millisecond (0) and an hour (1), in powers; 1 if unsolved.

    Nobody says beforehand how long problems take, and a solver that takes twice as long should be
    noticed on problems of a tenth of a second as well as on problems of a minute.
    """

    shortest: float = 1e-3
    longest: float = 3600.0

    def of(self, seconds: float, deadline: float = math.inf) -> float:
        """
        >>> LogRuntime().of(3600.0)
        1.0
        """
        share = math.log(max(seconds, self.shortest) / self.shortest)
        return min(share / math.log(self.longest / self.shortest), 1.0)


@dataclass(frozen=True)
class Quality:
    """Where the answer's number lies between `best` (cost 0) and `worst` (cost 1), clipped.

    The number is what a function returns, or the last line of a command's output. A command
    that is stopped at the deadline counts with the last number that it wrote.

    good_enough: an answer at least this good is acceptable, and ends a race with stop="first";
        None: any number is acceptable, but none ends the race.

    >>> Quality(best=0.0, worst=200.0).scaled(50.0)
    0.25
    """

    best: float
    worst: float
    good_enough: float | None = None

    def __post_init__(self) -> None:
        given = (self.best, self.worst, 0.0 if self.good_enough is None else self.good_enough)
        numbers = all(isinstance(each, int | float) and math.isfinite(each) for each in given)
        if not numbers or self.best == self.worst:
            raise PickbestError(
                "best and worst must be two different finite numbers, and good_enough one, if it "
                f"is given; got {self}"
            )

    def scaled(self, value: float) -> float:
        """The cost of a number."""
        share = (value - self.best) / (self.worst - self.best)
        return min(max(share, 0.0), 1.0)

    def judge(self, run: Run, solved: bool, deadline: float) -> Judgement:
        if not solved and run.status is not RunStatus.TIMEOUT:
            return Judgement(1.0, False, False)
        value = run.number
        if value is None:
            if run.status is RunStatus.TIMEOUT:
                return Judgement(1.0, False, False)
            raise BadAnswerError(
                f"the answer must be a number (a command: its last line of output), got "
                f"{run.last_line[:80]!r}"
            )
        cost = self.scaled(value)
        ends = self.good_enough is not None and cost <= self.scaled(self.good_enough)
        return Judgement(cost, True, ends, value)

    def span(self, run: Run, deadline: float) -> Span:
        value = run.number
        # An arm keeps the best answer that it has found: it can only get better.
        return 0.0, 1.0 if value is None else self.scaled(value)


@dataclass(frozen=True)
class Own:
    """A function of the user: a run, with its problem, output and verdict, to a cost in [0, 1]."""

    function: Callable[[Run], float]

    def judge(self, run: Run, solved: bool, deadline: float) -> Judgement:
        try:
            cost = float(self.function(run))
        except Exception as error:
            raise BadAnswerError(f"the cost function failed: {error!r}") from error
        if not 0.0 <= cost <= 1.0:
            raise BadAnswerError(
                f"a cost must be between 0 and 1, got {cost:g} (for rewards, use 1 - reward)"
            )
        return Judgement(cost, solved, solved)

    def span(self, run: Run, deadline: float) -> Span:
        return 0.0, 1.0


Cost = Solved | Quality | Own
NAMED: dict[str, Callable[[], Cost]] = {"solved": Solved, "runtime": Runtime}
CostSpec = str | Mapping[str, float] | Cost | Callable[[Run], float]


def as_cost(spec: CostSpec) -> Cost:
    """A cost from its name, the fields of a Quality, a Quality, or a function of a run.

    >>> as_cost("runtime")
    Runtime()
    >>> as_cost({"best": 0.0, "worst": 200.0})
    Quality(best=0.0, worst=200.0, good_enough=None)
    """
    if isinstance(spec, str):
        if spec not in NAMED:
            raise unknown_name("cost", spec, NAMED)
        return NAMED[spec]()
    if isinstance(spec, Solved | Quality | Own):
        return spec
    if isinstance(spec, Mapping):
        known = [each.name for each in fields(Quality)]
        for key in spec:
            if key not in known:
                raise unknown_name("key of the cost", key, known)
        for key in known[:2]:
            if key not in spec:
                raise PickbestError(f"a cost that is a table needs the key {key!r}")
        return Quality(**spec)
    if callable(spec):
        return Own(spec)
    raise PickbestError(f"cost must be a name, a table, a Quality or a function, got {spec!r}")
