"""What reading an answer gives, the plain formats, and problem files, packed or not."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from pickbest.core import PickbestError
from pickbest.portfolio.runs import Run, RunStatus

# (script, program not to use) to what a solver says of it: "sat", "unsat", or "" where none can.
Evaluate = Callable[[str, str], str]


def unevaluated(script: str, besides: str) -> str:
    """Where no second solver is to be asked."""
    return ""


class BadAnswerError(PickbestError):
    """What an arm gave is not what the cost needs: the arm is set up wrongly."""


class RejectedError(PickbestError):
    """Raised by a user's check or answer function: the answer is wrong, and why."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a run that ended on its own amounts to.

    status: FINISHED: it answered. NO_ANSWER: unknown, timeout, nothing. WRONG: its own words or
        its model show that the answer cannot be right. CRASHED: it failed.
    verdict: the answer in one word on which all arms must agree (SAT, UNSAT); value: in a number.
    reason: why it is no answer, or wrong. checked: a model was held against the problem.
    """

    status: RunStatus = RunStatus.FINISHED
    verdict: str = ""
    reason: str = ""
    checked: bool = False
    value: float | None = None


def no_answer(what: str) -> Reading:
    """A run that says, in its own way, that it has no answer."""
    return Reading(RunStatus.NO_ANSWER, reason=f"no answer: {what}")


def wrong(verdict: str, reason: str) -> Reading:
    """An answer that cannot be right."""
    return Reading(RunStatus.WRONG, verdict, f"wrong: {reason}")


# Plain formats ---------------------------------------------------------------------------------

# Every format has a name, as users write it, and the exit codes that do not mean a failure; `read`
# takes a run that ended with one of them.
_NO_ANSWERS = ("unknown", "timeout")


@dataclass(frozen=True)
class Number:
    """A number: what a function returns, or the last line of a command's output."""

    name: str = "number"
    exit_codes: tuple[int, ...] = (0,)

    def read(self, run: Run, evaluate: Evaluate) -> Reading:
        value = run.number
        if value is None:
            return no_answer(f"not a number: {run.last_line[:80]!r}")
        return Reading(value=value)


@dataclass(frozen=True)
class Text:
    """Anything: a command that ends with exit code 0 has answered, with or without words.

    No answer: None from a function, and the bare words unknown and timeout.
    """

    name: str = "text"
    exit_codes: tuple[int, ...] = (0,)

    def read(self, run: Run, evaluate: Evaluate) -> Reading:
        said = run.stdout if run.answer is None else run.answer
        if isinstance(said, str) and said.strip().lower() in _NO_ANSWERS:
            return no_answer(said.strip())
        return Reading()


@dataclass(frozen=True)
class OwnFormat:
    """A function of the user: a run to its verdict.

    It returns the verdict as text (two different ones contradict each other), True for an answer
    without one, and None or False for no answer. RejectedError makes the answer wrong.
    """

    function: Callable[[Run], str | bool | None]
    exit_codes: tuple[int, ...] = (0,)
    name: str = "python"

    def read(self, run: Run, evaluate: Evaluate) -> Reading:
        try:
            verdict = self.function(run)
        except RejectedError as error:
            return wrong("", str(error))
        except Exception as error:
            return Reading(RunStatus.BROKEN, reason=f"the answer function failed: {error!r}")
        if verdict is None or verdict is False:
            return no_answer("the answer function found none")
        return Reading(verdict="" if verdict is True else str(verdict))


NUMBER, TEXT = Number(), Text()


# Problem files ---------------------------------------------------------------------------------

# Loaded where a problem is packed: that takes longer than to read most of the others.
PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
# Megabytes of the longest problem that is read; without it, DEFAULT_LARGEST.
LARGEST = "PICKBEST_LARGEST"
DEFAULT_LARGEST = 1024
# Whatever unpacks to more than this, and to so many times its size, is no problem but a trap.
SUSPICIOUS_BYTES, SUSPICIOUS_RATIO = 1 << 26, 200
CHUNK = 1 << 20


def suffix_of(problem: Any) -> str:
    """What a problem's name ends in, without how it is packed; "" for what has no name.

    >>> suffix_of("queries/q1.smt2.xz")
    '.smt2'
    """
    if not isinstance(problem, str | Path):
        return ""
    path = Path(problem)
    return Path(path.stem if path.suffix.lower() in PACKED else path).suffix.lower()


def most_bytes() -> int:
    """How long a problem may be, unpacked; reading takes twice as much memory."""
    said = os.environ.get(LARGEST) or str(DEFAULT_LARGEST)
    if not said.isascii() or not said.isdigit() or int(said) < 1:
        raise PickbestError(f"{LARGEST} must be a whole number of megabytes, got {said!r:.80}")
    return int(said) << 20


def read_problem(path: str | Path) -> bytes:
    """What is in a problem file, unpacked where its name says that it is packed."""
    module = PACKED.get(Path(path).suffix.lower())
    try:
        with open(path, "rb") as raw:
            if module is None:
                return read_all(path, raw)
            with import_module(module).open(raw, "rb") as file:
                return read_all(path, file, os.fstat(raw.fileno()).st_size)
    except PickbestError:
        raise
    except Exception as error:  # an OSError, or what the module that unpacks calls it
        reason = getattr(error, "strerror", None) or error
        raise PickbestError(f"{path}: cannot be read ({reason})") from error


def read_all(name: str | Path, file: IO[bytes], packed: int | None = None) -> bytes:
    """All of a file, as much memory as it needs; packed: its size before it is unpacked."""
    chunks, total, most = [], 0, most_bytes()
    while chunk := file.read(CHUNK):
        total += len(chunk)
        if total > most:
            raise PickbestError(
                f"{name}: longer than {most >> 20} MB; to read it, set {LARGEST} to more megabytes"
            )
        if packed is not None and total > max(SUSPICIOUS_BYTES, SUSPICIOUS_RATIO * packed):
            raise PickbestError(
                f"{name}: unpacks to more than {SUSPICIOUS_RATIO} times its size; if that is "
                "right, unpack it first"
            )
        chunks.append(chunk)
    return b"".join(chunks)
