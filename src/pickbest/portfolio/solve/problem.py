"""The problem of one call: which format and logic, what it asks for, and a plain file with it."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import BinaryIO
from zlib import crc32

from pickbest.core.errors import PickbestError
from pickbest.portfolio.processes import temporary_prefix
from pickbest.portfolio.run.answers.reading import read_all, read_problem, suffix_of
from pickbest.portfolio.solve.known import DIMACS, SMTLIB

STDIN = "-"
SUFFIXES = {".cnf": DIMACS, ".dimacs": DIMACS, ".smt2": SMTLIB}
# Commands that say what a script needs; what stands in comments, strings and quoted names is passed
# over. Every alternative begins with a letter of its own, so that the search is quick.
_COMMANDS = re.compile(
    rb';[^\n]*|"[^"]*"|\|[^|]*\||\(\s*(?:set-logic\s+(?P<logic>[A-Za-z0-9_+*]{1,40})'
    rb"|(?P<word>check-sat|get-(?:model|value)|push|reset|pop)(?![\w]))"
)
_HEADER = re.compile(rb"(?m)^p[ \t]+cnf[ \t]+(\d{1,12})")
# Sorts and operators, and the letters of a logic's name that they need; one that ends in a dot is
# the beginning of many.
_THEORIES = {
    "quantifiers": "forall exists define-fun-rec define-funs-rec",
    "A": "Array select store",
    "DT": "declare-datatype declare-datatypes",
    "BV": "BitVec bvadd bvand bvor bvnot bvneg bvmul bvult bvule bvslt bvsle bvshl bvxor concat",
    "FP": "FloatingPoint Float16 Float32 Float64 Float128 RoundingMode to_fp fp.",
    "S": "String RegLan Seq str. re. seq.",
    "I": "Int div mod to_int",
    "R": "Real to_real",
    "sorts": "declare-sort",
}
_WORD = r"(?<![\w.!@$%&|-]){}{}"
_FUNCTION = re.compile(rb"\(\s*+declare-fun\s++(?:\|[^|]*+\||[^\s()|]++)\s*+\(\s*+[^\s)]")
# A product of two things that are no numbers.
_PRODUCT = re.compile(
    rb"\(\s*+\*\s++(?:(?![-\d])[^\s()]++|\((?!\s*+-\s++\d))\s*+(?![-\d)])(?!\(\s*+-\s++\d)"
)


class Problem:
    """name: as the user wrote it. content: all of it. file: a plain file with it; "": none yet."""

    def __init__(self, name: str, format: str, content: bytes, file: str = "") -> None:
        self.name = name
        self.format = format
        self.content = content
        self.models = self.values = self.incremental = self.sets_logic = False
        self.checks = 1
        self.logic = "ALL"
        self._file = file
        self._copies: list[str] = []
        if format == SMTLIB:
            self._scan()

    def _scan(self) -> None:
        words: list[bytes] = []
        said = b""
        for found in _COMMANDS.finditer(self.content):
            if found["word"]:
                words.append(found["word"])
            elif found["logic"]:
                said = said or found["logic"]
        self.checks = words.count(b"check-sat")
        self.values = b"get-value" in words
        self.models = self.values or b"get-model" in words
        scopes = any(word in words for word in (b"push", b"pop", b"reset"))
        self.incremental = self.checks > 1 or scopes
        self.sets_logic = bool(said)
        named = said.decode()
        # ALL says no more than nothing does.
        self.logic = named if named not in ("", "ALL") else logic_of(self.content)

    @cached_property
    def digest(self) -> str:
        """Of the content: what a problem is remembered by, whatever its name."""
        return content_digest(self.content)

    @cached_property
    def place(self) -> str:
        """Of the end of its path: what a problem is remembered by when its content changes."""
        if self.name == STDIN:
            return ""
        parts = os.path.abspath(self.name).split(os.sep)[-3:]
        return content_digest("/".join(parts).encode(errors="replace"))

    @property
    def variables(self) -> int:
        """How many the header of a formula names."""
        found = _HEADER.search(self.content) if self.format == DIMACS else None
        return int(found[1]) if found else 0

    @property
    def kind(self) -> str:
        """Problems of one kind are learned together."""
        return self.format if self.format == DIMACS else f"{self.format}-{self.logic}"

    @cached_property
    def path(self) -> str:
        """A plain file with it, for solvers."""
        return self._file or self._copied(b"")

    def path_for(self, needs_logic: bool) -> str:
        """A file for a solver; one that needs a logic where the script names none gets a copy."""
        named = self.sets_logic or self.format == DIMACS or self.logic == "ALL"
        return self._path_with_logic if needs_logic and not named else self.path

    @cached_property
    def _path_with_logic(self) -> str:
        # On the first line, so that the line numbers of errors stay what they are.
        return self._copied(f"(set-logic {self.logic}) ".encode())

    def _copied(self, before: bytes) -> str:
        suffix = next(end for end, kind in SUFFIXES.items() if kind == self.format)
        try:
            with tempfile.NamedTemporaryFile(
                prefix=temporary_prefix(), suffix=suffix, delete=False
            ) as file:
                self._copies.append(file.name)
                file.write(before + self.content)
        except OSError as error:
            reason = error.strerror
            raise PickbestError(f"{self.name}: cannot be copied to a file ({reason})") from error
        return file.name

    def close(self) -> None:
        for path in self._copies:
            with suppress(OSError):
                os.unlink(path)


def content_digest(content: bytes) -> str:
    """Two problems with the same one would share who goes first, and nothing else."""
    return f"{crc32(content):08x}-{len(content):x}"


def logic_of(content: bytes) -> str:
    """The smallest logic that has the sorts and operators of a script; ALL where none is known.

    >>> logic_of(b"(declare-const x (_ BitVec 8))(assert (= x #x01))")
    'QF_BV'
    >>> logic_of(b"(declare-fun f (Int) Int)(assert (forall ((x Int)) (< (f x) (* 2 x))))")
    'UFLIA'
    """
    has = {
        name: any(_names(content, word) for word in words.split())
        for name, words in _THEORIES.items()
    }
    functions = has["sorts"] or _FUNCTION.search(content) is not None
    if has["I"] or has["R"]:
        kind = "N" if _PRODUCT.search(content) else "L"
        arithmetic = f"{kind}{'I' if has['I'] else ''}{'R' if has['R'] else ''}A"
    else:
        arithmetic = ""
    theories = f"{'A' if has['A'] else ''}{'UF' if functions else ''}{'DT' if has['DT'] else ''}"
    theories += f"{'BV' if has['BV'] else ''}{'FP' if has['FP'] else ''}{'S' if has['S'] else ''}"
    theories += arithmetic
    if theories == "A":
        theories = "AX"
    return f"{'' if has['quantifiers'] else 'QF_'}{theories or 'UF'}"


def _names(content: bytes, word: str) -> bool:
    # To look for plain bytes first is ten times as quick.
    if word.encode() not in content:
        return False
    end = "" if word.endswith(".") else r"(?![\w.!@$%&|-])"
    return re.search(_WORD.format(re.escape(word), end).encode(), content) is not None


@contextmanager
def opened(name: str, stdin: BinaryIO) -> Iterator[Problem]:
    """A problem by the name of its file, or - for standard input."""
    content = read_all(name, stdin) if name == STDIN else read_problem(name)
    if not content.strip():  # some solvers take it for a formula that holds
        raise PickbestError(f"{name}: the file is empty")
    plain = os.path.splitext(name)[1].lower() in SUFFIXES and os.path.isfile(name)
    file = os.path.join(os.getcwd(), name) if plain else ""
    problem = Problem(name, _format(name, content), content, file)
    try:
        yield problem
    finally:
        problem.close()


def _format(name: str, content: bytes) -> str:
    if known := SUFFIXES.get(suffix_of(name)):
        return known
    # A comment of DIMACS is a line that begins with c.
    place = 0
    while content[place : place + 1] in (b"c", b"\n", b"\r"):
        place = content.find(b"\n", place) + 1 or len(content)
    if content[place : place + 1] == b"p":
        return DIMACS
    if content.lstrip()[:1] in (b"(", b";"):
        return SMTLIB
    raise PickbestError(
        f"{name}: neither SMT-LIB nor DIMACS CNF (they begin with a bracket, and with 'p cnf')"
    )
