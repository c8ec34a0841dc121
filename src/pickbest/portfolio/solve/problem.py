"""The problem of one call: which format and logic, what it asks for, and a plain file with it."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

from pickbest.core import PickbestError
from pickbest.portfolio.run.answers.problems import LONGEST, read_problem, suffix_of
from pickbest.portfolio.solve.known import DIMACS, SMTLIB

STDIN = "-"
SUFFIXES = {".cnf": DIMACS, ".dimacs": DIMACS, ".smt2": SMTLIB}
_LOGIC = re.compile(rb"\(\s*set-logic\s+([A-Za-z0-9_+*]{1,40})\s*\)")
_LOGIC_NAME = re.compile(r"[A-Za-z0-9_+*]{1,40}")
_MODELS = re.compile(rb"\(\s*get-(model|value)\b")
_CHECKS = re.compile(rb"\(\s*check-sat\b")
_SCOPES = re.compile(rb"\(\s*(push|reset)\b")
_FORMULA = re.compile(rb"\s*(c[^\n]*\n\s*)*p\s+cnf\s")


class Problem(NamedTuple):
    """name: as the user wrote it. path: a plain file with it, for solvers.

    logic: ALL where a script names none. models, incremental: it asks for models, or for more
    than one answer. content: all of it.
    """

    name: str
    path: str
    format: str
    logic: str = "ALL"
    models: bool = False
    incremental: bool = False
    content: bytes = b""

    def key(self, budget: int) -> str:
        """Problems with the same key are learned together."""
        kind = self.format if self.format == DIMACS else f"{self.format}-{self.logic}"
        return f"{kind}-{budget}"


@contextmanager
def opened(name: str, stdin: BinaryIO, folder: str = "", logic: str = "") -> Iterator[Problem]:
    """A problem by the name of its file, or - for standard input.

    folder: where relative names start. logic: instead of what the script says.
    """
    if logic and not _LOGIC_NAME.fullmatch(logic):
        raise PickbestError(f"a logic is a word such as QF_BV, got {logic[:80]!r}")
    path = os.path.join(folder or os.getcwd(), name)
    if name == STDIN:
        content = stdin.read(LONGEST + 1)
        if len(content) > LONGEST:
            raise PickbestError(f"standard input is longer than {LONGEST / 1024**3:g} GB")
    elif not os.path.isfile(path):
        why = "this is a folder" if os.path.isdir(path) else "there is no such file"
        raise PickbestError(f"{name}: {why}")
    else:
        content = read_problem(path)
    if not content.strip():  # some solvers take it for a formula that holds
        raise PickbestError(f"{name}: nothing is in it")
    format = _format(name, content)
    packed = os.path.splitext(name)[1].lower() not in SUFFIXES
    if name != STDIN and not packed:
        yield _described(name, path, format, content, logic)
        return
    suffix = next(end for end, kind in SUFFIXES.items() if kind == format)
    with tempfile.NamedTemporaryFile(prefix="pickbest-", suffix=suffix) as file:
        file.write(content)
        file.flush()
        yield _described(name, file.name, format, content, logic)


def _described(name: str, path: str, format: str, content: bytes, logic: str) -> Problem:
    if format == DIMACS:
        return Problem(name, path, format, content=content)
    said = _LOGIC.search(content)
    logic = logic or (said[1].decode() if said else "ALL")
    models, checks = _MODELS.search(content) is not None, len(_CHECKS.findall(content))
    incremental = checks > 1 or _SCOPES.search(content) is not None
    return Problem(name, path, format, logic, models, incremental, content)


def _format(name: str, content: bytes) -> str:
    if known := SUFFIXES.get(suffix_of(name)):
        return known
    if _FORMULA.match(content):
        return DIMACS
    if content.lstrip()[:1] in (b"(", b";"):
        return SMTLIB
    raise PickbestError(
        f"{name}: neither SMT-LIB nor DIMACS CNF (they begin with a bracket, and with 'p cnf')"
    )
