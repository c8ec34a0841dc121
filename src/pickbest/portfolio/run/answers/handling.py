"""What a race needs to know of answers: how they are read and checked, and where they are kept."""

import contextlib
import math
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pickbest.core import PickbestError, unknown_name
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.processes import temporary_folder
from pickbest.portfolio.run.answers.dimacs import Dimacs
from pickbest.portfolio.run.answers.reading import (
    NUMBER,
    TEXT,
    BadAnswerError,
    Evaluate,
    Number,
    OwnFormat,
    RejectedError,
    Text,
    suffix_of,
    unevaluated,
)
from pickbest.portfolio.run.answers.smtlib import SmtLib
from pickbest.portfolio.runs import Limits, Run, Task

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

AnswerFormat = Dimacs | SmtLib | Number | Text | OwnFormat
# A formula in which everything has a value takes milliseconds; quantifiers may take for ever.
SECONDS = 10.0
MEMORY_BYTES = 4 * 1024**3
# How each is called on a file in SMT-LIB; those of the widest logics first.
PROGRAMS = {"cvc5": "--lang=smt2", "z3": "-smt2", "cvc4": "--lang=smt2", "bitwuzla": ""}


class Outputs:
    """The files of a portfolio's long outputs.

    journal: its file; None: what is kept is kept until `close` only.
    """

    def __init__(self, journal: Path | None = None) -> None:
        self._spools: TemporaryDirectory[str] | None = None
        with contextlib.suppress(OSError):  # no room: the ends of long outputs stay in memory
            self._spools = temporary_folder()
        self._kept = journal and journal.with_name(f"{journal.name}.outputs")

    def spool(self, number: int, place: int) -> str:
        """Where the output of a round's arm goes once it is long."""
        return os.path.join(self._spools.name, f"{number}-{place}") if self._spools else ""

    def keep(self, number: int, winner: Run | None, runs: Iterable[Run]) -> str:
        """Keep the winner's output, where it has a file, and remove the others': its place."""
        for run in runs:
            if run is not winner and run.spool:
                with contextlib.suppress(OSError):
                    os.unlink(run.spool)
        if winner is None or not winner.spool or self._kept is None:
            return winner.spool if winner is not None else ""
        arm = re.sub(r"[^\w.+-]", "_", winner.arm)[:80]
        try:
            with contextlib.suppress(FileExistsError):
                self._kept.mkdir(mode=0o700)
            found = self._kept.lstat()
            # A link, or a folder that others may write to, would let them choose what is written.
            if found.st_uid != os.geteuid() or found.st_mode & 0o022:
                return winner.spool
            return shutil.move(winner.spool, str(self._kept / f"{number}-{arm}.txt"))
        except OSError:  # the journal still has the beginning
            return winner.spool

    def close(self) -> None:
        if self._spools is not None:
            self._spools.cleanup()


# A run to: True or None (fine), False or the reason (refused). RejectedError refuses as well.
Check = Callable[[Run], bool | str | None]


@dataclass(frozen=True)
class Answers:
    """How a race reads, checks and keeps answers.

    format: for arms that have none of their own; None: guessed from the problem's name.
    check: a function of the user that may refuse an answer.
    wanted: how many answers end a race that is stopped at the first one.
    """

    format: AnswerFormat | None = None
    check: Check | None = None
    evaluate: Evaluate = unevaluated
    outputs: Outputs = field(default_factory=Outputs)
    wanted: int = 1

    def check_answer(self, run: Run) -> None:
        """RejectedError where the user's check refuses an answer."""
        try:
            said = None if self.check is None else self.check(run)
        except RejectedError:
            raise
        except Exception as error:
            raise BadAnswerError(f"the check failed: {error!r}") from error
        if said is False or isinstance(said, str):
            raise RejectedError(said or "the check refuses it")


# A second SMT solver, to evaluate what the first one claims ------------------------------------


def installed_evaluators() -> dict[str, str]:
    """Name and path of each that is installed, also next to this Python."""
    places = os.pathsep.join([os.environ.get("PATH", ""), str(Path(sys.executable).parent)])
    found = {name: shutil.which(name, path=places) for name in PROGRAMS}
    return {name: path for name, path in found.items() if path}


@dataclass(frozen=True)
class Evaluator:
    """Asks the solvers that are installed side by side, but never the one that is in doubt.

    engine: runs them under guards, with limits, so that nothing of them is left behind.
    until: when they must be done, by time.monotonic.
    """

    engine: LocalEngine
    until: float = math.inf

    def __call__(self, script: str, besides: str) -> str:
        """ "sat" or "unsat" of the first that knows; "": none does, or none is there."""
        found = installed_evaluators()
        found.pop(Path(besides).name, None)
        seconds = min(SECONDS, self.until - time.monotonic())
        if not found or seconds <= 0.0:
            return ""
        with temporary_folder() as folder:
            path = Path(folder, "model.smt2")
            path.write_text(script, encoding="utf-8")
            limits = Limits(memory_bytes=MEMORY_BYTES)
            tasks = [
                Task(
                    name,
                    seconds,
                    argv=(program, *PROGRAMS[name].split(), str(path)),
                    cwd=folder,
                    limits=limits,
                )
                for name, program in found.items()
            ]
            runs = self.engine.race(tasks, lambda run: _verdict(run) != "", lambda: False)
            return next((word for run in runs if (word := _verdict(run))), "")


def _verdict(run: Run) -> str:
    words = run.stdout.split()
    return words[0] if words in (["sat"], ["unsat"]) else ""


# Formats by name ---------------------------------------------------------------------------------

DIMACS, SMTLIB = Dimacs(), SmtLib()
NAMED: dict[str, AnswerFormat] = {each.name: each for each in (DIMACS, SMTLIB, NUMBER, TEXT)}
_BY_SUFFIX: dict[str, AnswerFormat] = {".cnf": DIMACS, ".smt2": SMTLIB}

FormatSpec = str | AnswerFormat | Callable[[Run], str | bool | None]


def as_format(spec: FormatSpec) -> AnswerFormat:
    """A format from its name, a format, or a function of a run.

    >>> as_format("dimacs").exit_codes
    (0, 10, 20)
    """
    if isinstance(spec, str):
        if spec not in NAMED:
            raise unknown_name("answer format", spec, NAMED)
        return NAMED[spec]
    if isinstance(spec, Dimacs | SmtLib | Number | Text | OwnFormat):
        return spec
    if callable(spec):
        return OwnFormat(spec)
    raise PickbestError(f"answer must be a name or a function of a run, got {spec!r}")


def guess_format(problem: Any) -> AnswerFormat:
    """What the answers of commands on a problem look like, from the problem's name.

    >>> guess_format("uf250-01.cnf.gz").name
    'dimacs'
    """
    return _BY_SUFFIX.get(suffix_of(problem), TEXT)
