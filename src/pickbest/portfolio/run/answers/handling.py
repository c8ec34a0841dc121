"""What a race needs to know of answers: how they are read and checked, and where they are kept."""

import contextlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.run.answers.reading import (
    AnswerFormat,
    BadAnswerError,
    Evaluate,
    RejectedError,
    unevaluated,
)
from pickbest.portfolio.runs import Limits, Run, RunStatus, Task

# A formula in which everything has a value takes milliseconds; quantifiers may take for ever.
SECONDS = 10.0
MEMORY_BYTES = 4 * 1024**3
# How each is called on a file in SMT-LIB; those of the widest logics first.
PROGRAMS = {"cvc5": "--lang=smt2", "z3": "-smt2", "cvc4": "--lang=smt2", "bitwuzla": ""}


class Outputs:
    """The files of a portfolio's long outputs.

    beside: the file of the journal; None: what is kept is kept until `close` only.
    """

    def __init__(self, beside: Path | None = None) -> None:
        self._spools = tempfile.TemporaryDirectory(prefix="pickbest-")
        self._kept = beside and beside.with_name(f"{beside.name}.outputs")

    def spool(self, number: int, place: int) -> str:
        """Where the output of a round's arm goes once it is long."""
        return os.path.join(self._spools.name, f"{number}-{place}")

    def keep(self, number: int, winner: Run | None, runs: Iterable[Run]) -> str:
        """Keep the winner's output, where it has a file, and remove the others': its place.

        What speaks against the winner, or was found wrong, is evidence: it is kept, too, however
        short it is.
        """
        for run in runs:
            if run is winner:
                continue
            disputed = run.verdict and winner is not None and run.verdict != winner.verdict
            if self._kept is not None and (disputed or run.status is RunStatus.WRONG):
                self._kept_file(number, run)
            if run.spool:
                with contextlib.suppress(OSError):
                    os.unlink(run.spool)
        return self._kept_file(number, winner) if winner is not None and winner.spool else ""

    def _kept_file(self, number: int, run: Run) -> str:
        """The output of a run, beside the journal where there is one."""
        if self._kept is None:
            return run.spool
        name = re.sub(r"[^\w.+-]", "_", run.arm)[:80]
        kept = self._kept / f"{number}-{name}.txt"
        try:
            self._kept.mkdir(mode=0o700, exist_ok=True)
            if run.spool:
                return str(shutil.move(run.spool, kept))
            kept.touch(0o600)
            kept.write_text(run.stdout, encoding="utf-8", errors="replace")
            return str(kept)
        except OSError:  # the journal still has the beginning and the end
            return run.spool

    def close(self) -> None:
        self._spools.cleanup()


def abridged(path: str, longest: int) -> str:
    """The text of a file; where it is long, its beginning and its end."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        if size <= longest:
            return file.read().decode(errors="replace")
        head = file.read(longest // 2)
        file.seek(size - longest // 2)
        tail = file.read()
    left_out = size - len(head) - len(tail)
    middle = f"\n… {left_out} bytes are left out here …\n"
    return head.decode(errors="replace") + middle + tail.decode(errors="replace")


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
    """Name and path of each that is installed, also beside this Python."""
    places = os.pathsep.join([os.environ.get("PATH", ""), str(Path(sys.executable).parent)])
    found = {name: shutil.which(name, path=places) for name in PROGRAMS}
    return {name: path for name, path in found.items() if path}


@dataclass(frozen=True)
class Evaluator:
    """Asks the solvers that are installed, but never the one whose answer is in doubt.

    engine: runs them under guards, with limits, so that nothing of them is left behind.
    """

    engine: LocalEngine

    def __call__(self, script: str, besides: str) -> str:
        """ "sat" or "unsat" of the first that knows; "": none does, or none is there."""
        found = installed_evaluators()
        found.pop(Path(besides).name, None)
        if not found:
            return ""
        with tempfile.TemporaryDirectory(prefix="pickbest-") as folder:
            path = Path(folder, "model.smt2")
            path.write_text(script, encoding="utf-8")
            said = (self._asked(name, program, path) for name, program in found.items())
            return next((word for word in said if word), "")

    def _asked(self, name: str, program: str, path: Path) -> str:
        argv = (program, *PROGRAMS[name].split(), str(path))
        limits = Limits(memory_bytes=MEMORY_BYTES)
        task = Task(name, SECONDS, argv=argv, cwd=str(path.parent), limits=limits)
        (run,) = self.engine.race([task], lambda run: False, lambda: False)
        words = run.stdout.split()
        return words[0] if words in (["sat"], ["unsat"]) else ""
