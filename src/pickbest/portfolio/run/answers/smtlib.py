"""Answers of SMT solvers: `sat` and `unsat`, one for each check-sat, and models.

A model is checked by putting its definitions in the place of the formula's declarations and
letting another solver say whether what is left holds. SMT-LIB 2.6: https://smt-lib.org/language.shtml
"""

import math
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pickbest.core import PickbestError
from pickbest.portfolio.run.answers.commands import Splitter, head_of
from pickbest.portfolio.run.answers.reading import Evaluate, Reading, no_answer, read_problem, wrong
from pickbest.portfolio.runs import Run, RunStatus

_VERDICTS = {b"sat": "SAT", b"unsat": "UNSAT", b"unknown": "", b"timeout": ""}
_TOKEN = re.compile(r';[^\n]*|"(?:[^"]|"")*"|\|[^|]*\||[()]|[^\s()";|]+')
# After a verdict, what was asked of it may not exist: a model of what is unsat.
_NOT_THERE = re.compile(rb"model|value|core|proof|assignment")
# Formulas and models beyond this are not checked: reading them here would take longer than a race.
LONGEST_CHECK = 16 * 1024**2
# How quickly models are read here, at least.
BYTES_PER_SECOND = 1_000_000
# So deep do definitions of a model build on each other; a model may be anything.
MOST_STEPS = 30
_SORTS = ("declare-sort", "define-sort", "declare-datatype", "declare-datatypes")
_DECLARES = ("declare-fun", "declare-const")
_DEFINES = ("define-fun", "define-fun-rec", "define-const")
_KEPT = (*_DEFINES, "define-funs-rec", "assert")
# They say nothing that a model must fulfil.
_SILENT = (
    "set-logic", "set-info", "set-option", "check-sat", "get-model", "get-value", "get-info",
    "get-option", "get-unsat-core", "get-proof", "get-assertions", "get-assignment", "echo", "exit",
)  # fmt: skip


@dataclass(frozen=True)
class SmtLib:
    """The format of SMT solvers.

    Exit code 1 is fine with a verdict: solvers end so when a model is asked for after unsat.
    asked: how many verdicts the script asks for; None: it is read. until: when a check of a model
    must be done, by time.monotonic.
    """

    name: str = "smtlib"
    exit_codes: tuple[int, ...] = (0, 1, 10, 20)
    asked: int | None = None
    until: float = math.inf

    def read(self, run: Run, evaluate: Evaluate) -> Reading:
        words, error = _said(run)
        if not words and (error or run.exit_code == 1):
            return Reading(RunStatus.CRASHED, reason=error or f"exit code 1: {run.last_error}")
        if error:  # it went on without what it did not understand
            return no_answer(f"an error before its verdict: {error}")
        if not words or "" in words:
            return no_answer("unknown" if words else "it names no verdict")
        if reason := self._missing(len(words), run.problem):
            return no_answer(reason)
        verdict = " ".join(words)
        if verdict != "SAT" or not run.is_whole or not self._has_time(run):
            return Reading(verdict=verdict)
        try:
            script = substituted(run)
        except (PickbestError, ValueError):
            return Reading(verdict=verdict)
        said = evaluate(script, run.program) if script else ""
        if said == "unsat":
            return wrong(verdict, "its model does not satisfy the formula, says another solver")
        return Reading(verdict=verdict, checked=said == "sat")

    def _missing(self, found: int, problem: Any) -> str:
        """Whether a verdict is missing, or there is one too many."""
        asked = _asked(found, problem) if self.asked is None else self.asked
        return "" if asked in (0, found) else f"{found} verdicts for {asked} check-sat commands"

    def _has_time(self, run: Run) -> bool:
        """Whether a model of this length can be read before it must be done."""
        size = os.path.getsize(run.spool) if run.spool else len(run.stdout)
        return time.monotonic() + size / BYTES_PER_SECOND < self.until


def _said(run: Run) -> tuple[list[str], str]:
    """(verdicts as they were said, the first error before the last of them)."""
    if run.answer is not None:
        words = str(run.answer).strip().lower().split()
        lines: Iterator[bytes] = (word.encode() for word in words)
    else:
        lines = run.lines()
    verdicts: list[str] = []
    error = pending = ""
    for line in lines:
        word = line.strip()
        if word in _VERDICTS:
            verdicts.append(_VERDICTS[word])
            error = error or pending
        elif word.startswith(b"(error") and not (verdicts and _NOT_THERE.search(word)):
            pending = pending or word[:200].decode(errors="replace")
    return verdicts, error if verdicts else pending


def _asked(found: int, problem: Any) -> int:
    """How many verdicts a script asks for; found: how many there are. 0: nobody knows."""
    try:
        text = read_problem(problem) if isinstance(problem, str | Path) else b""
    except PickbestError:
        return 0
    asked = text.count(b"(check-sat")
    if asked != found and asked != 0 and len(text) <= LONGEST_CHECK:
        commands = split_commands(text.decode(errors="replace"))
        try:
            asked = sum(name.startswith("check-sat") for name, _ in commands)
        except ValueError:  # its brackets do not match: solvers read on in their own ways
            return 0
    return asked


def split_commands(text: str) -> Iterator[tuple[str, str]]:
    """(name, source) of each list at the top of a script; ValueError where brackets do not match.

    >>> list(split_commands("(set-logic QF_BV) ; x" + chr(10) + "(assert (= a b))"))
    [('set-logic', '(set-logic QF_BV)'), ('assert', '(assert (= a b))')]
    """
    splitter = Splitter()
    for source in splitter.feed(text.encode() + b"\n"):
        if source == b")":
            raise ValueError("a bracket closes that never opened")
        if source[:1] == b"(":
            yield head_of(source), source.decode()
    if not splitter.is_done:
        raise ValueError("a bracket opens that never closes")


def substituted(run: Run) -> str:
    """The formula with the model's definitions in the place of its declarations; "": no way.

    Of the model only definitions are taken, each a term within its own brackets: whatever else
    an arm writes never reaches the other solver.
    """
    if not isinstance(run.problem, str | Path):
        return ""
    text = read_problem(run.problem)
    if len(text) > LONGEST_CHECK:
        return ""
    model = dict(_definitions(run))
    commands = list(split_commands(text.decode(errors="replace")))
    names = [name for name, _ in commands]
    if not model or names.count("check-sat") != 1:
        return ""
    if set(names) - {*_SORTS, *_DECLARES, *_KEPT, *_SILENT}:
        return ""

    def called(*names: str) -> list[str]:
        return [source for name, source in commands if name in names]

    for source in called(*_DEFINES):
        model.pop(_symbol(source), None)
    declared = [source for source in called(*_DECLARES) if _symbol(source) not in model]
    parts = (*called(*_SORTS), *_ordered(model), *declared, *called(*_KEPT))
    return "\n".join(["(set-logic ALL)", *parts, "(check-sat)"])


def _definitions(run: Run) -> Iterator[tuple[str, str]]:
    """(symbol, definition) of a model in an output: ( (define-fun …) … ) or (model …)."""
    text = b"\n".join(run.lines())
    if len(text) > LONGEST_CHECK:
        return
    for _, source in split_commands(text.decode(errors="replace")):
        inner = source[1:-1].strip().removeprefix("model")
        if inner.startswith("(error"):
            continue
        for name, definition in split_commands(inner):
            if name in _DEFINES:
                yield _symbol(definition), definition


def _symbol(source: str) -> str:
    """What a command declares or defines."""
    tokens = (found.group() for found in _TOKEN.finditer(source))
    words = [token for token, _ in zip(tokens, range(3), strict=False)]
    return words[2].strip("|") if len(words) == 3 else ""


def _ordered(model: dict[str, str]) -> list[str]:
    """Definitions such that each stands after those that it names, where a few steps get there."""
    named = {
        symbol: {found.group().strip("|") for found in _TOKEN.finditer(source)} - {symbol}
        for symbol, source in model.items()
    }
    left = dict(model)
    ordered: list[str] = []
    for _ in range(MOST_STEPS):
        for symbol in [each for each in left if not any(name in left for name in named[each])]:
            ordered.append(left.pop(symbol))
    return [*ordered, *left.values()]
