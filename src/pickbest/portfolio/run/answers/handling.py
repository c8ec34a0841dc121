"""What a race needs to know of answers: how they are read and checked, and where they are kept."""

import contextlib
import errno
import math
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from pickbest.core import PickbestError, unknown_name
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.processes import temporary_folder
from pickbest.portfolio.run.answers.dimacs import Dimacs
from pickbest.portfolio.run.answers.reading import (
    NUMBER,
    TEXT,
    AnswerFormat,
    BadAnswerError,
    Evaluate,
    OwnFormat,
    RejectedError,
    suffix_of,
    unevaluated,
)
from pickbest.portfolio.run.answers.smtlib import SmtLib
from pickbest.portfolio.runs import Limits, Run, RunStatus, Task

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

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
        """The output of a run, next to the journal if there is one."""
        if self._kept is None:
            return run.spool
        arm = re.sub(r"[^\w.+-]", "_", run.arm)[:80]
        name = f"{number}-{arm}.txt"
        try:
            with own_folder(self._kept) as folder, new_file(folder, name) as file:
                if run.spool:
                    with open(run.spool, "rb") as spool:
                        shutil.copyfileobj(spool, file)
                else:
                    file.write(run.stdout.encode(errors="replace"))
        except OSError:  # the journal still has the beginning and the end
            return run.spool
        if run.spool:
            with contextlib.suppress(OSError):
                os.unlink(run.spool)
        return str(self._kept / name)

    def close(self) -> None:
        if self._spools is not None:
            self._spools.cleanup()


@contextlib.contextmanager
def own_folder(path: Path) -> Iterator[int]:
    """A descriptor of a folder of this user's, made where there is none; OSError for others.

    A link, or a folder that others may write to, would let them choose what is written.
    """
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(folder)
        if found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise PermissionError(errno.EPERM, "not a folder of this user's alone", str(path))
        yield folder
    finally:
        os.close(folder)


@contextlib.contextmanager
def new_file(folder: int, name: str) -> Iterator[BinaryIO]:
    """A file for its owner only that appears whole, in the place of an older one or a link."""
    temporary = f".{os.urandom(8).hex()}"
    flags = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY | os.O_CLOEXEC
    with open(os.open(temporary, flags, 0o600, dir_fd=folder), "wb") as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise


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
    """A format from its name, an AnswerFormat, or a function of a run.

    >>> as_format("dimacs").exit_codes
    (0, 10, 20)
    """
    if isinstance(spec, str):
        if spec not in NAMED:
            raise unknown_name("answer format", spec, NAMED)
        return NAMED[spec]
    if isinstance(spec, AnswerFormat):
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
