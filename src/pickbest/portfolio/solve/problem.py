"""The problem of one call: which format and logic, what it asks for, and a plain file with it."""

import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import blake2b
from importlib import import_module
from typing import IO, Any, BinaryIO, cast

from pickbest.core.errors import PickbestError
from pickbest.portfolio.processes import temporary_prefix
from pickbest.portfolio.run.answers.reading import suffix_of
from pickbest.portfolio.solve.known import DIMACS, SMTLIB

STDIN = "-"
SUFFIXES = {".cnf": DIMACS, ".dimacs": DIMACS, ".smt2": SMTLIB}
PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
# A longer problem is refused, unless the caller sets another limit.
MOST_BYTES = 1 << 30
# Whatever unpacks to more than this, and to so many times its size, is no problem but a trap.
SUSPICIOUS_BYTES, SUSPICIOUS_RATIO = 1 << 26, 200
CHUNK = 1 << 20
_LOGIC_NAME = re.compile(r"[A-Za-z0-9_+*]{1,40}")
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
    """name: as the user wrote it. path: a plain file with it, for solvers. content: all of it."""

    def __init__(self, name: str, path: str, format: str, content: bytes, logic: str = "") -> None:
        self.name = name
        self.path = path
        self.format = format
        self.content = content
        self.models = self.incremental = self.sets_logic = False
        self.checks = 1
        self.logic = logic or "ALL"
        self._copies: dict[str, str] = {}
        if format == SMTLIB:
            self._scan(logic)

    def _scan(self, logic: str) -> None:
        words: list[bytes] = []
        said = b""
        for found in _COMMANDS.finditer(self.content):
            if found["word"]:
                words.append(found["word"])
            elif found["logic"]:
                said = said or found["logic"]
        self.checks = words.count(b"check-sat")
        self.models = b"get-model" in words or b"get-value" in words
        scopes = any(word in words for word in (b"push", b"pop", b"reset"))
        self.incremental = self.checks > 1 or scopes
        self.sets_logic = bool(said)
        named = said.decode()
        # ALL says no more than nothing does.
        self.logic = logic or (named if named not in ("", "ALL") else logic_of(self.content))

    @cached_property
    def digest(self) -> bytes:
        """Of the content: what a problem is remembered by, whatever its name."""
        return content_digest(self.content)

    @cached_property
    def place(self) -> bytes:
        """Of the end of its path: what a problem is remembered by when its content changes."""
        if self.name == STDIN:
            return b""
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

    def path_for(self, needs_logic: bool) -> str:
        """A file for a solver; one that needs a logic where the script names none gets a copy."""
        if not needs_logic or self.sets_logic or self.format == DIMACS or self.logic == "ALL":
            return self.path
        if not self._copies:
            with tempfile.NamedTemporaryFile(
                prefix=temporary_prefix(), suffix=".smt2", delete=False
            ) as file:
                self._copies[self.logic] = file.name
                # On the first line, so that the line numbers of errors stay what they are.
                file.write(f"(set-logic {self.logic}) ".encode() + self.content)
        return self._copies[self.logic]

    def close(self) -> None:
        for path in self._copies.values():
            with suppress(OSError):
                os.unlink(path)


def content_digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=12).digest()


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
def opened(
    name: str, stdin: BinaryIO, logic: str = "", most: int | None = None
) -> Iterator[Problem]:
    """A problem by the name of its file, or - for standard input.

    logic: instead of what the script says. most: how many bytes it may have, unpacked.
    """
    if logic and not _LOGIC_NAME.fullmatch(logic):
        raise PickbestError(f"a logic is a word such as QF_BV, got {logic[:80]!r}")
    ending = os.path.splitext(name)[1].lower()
    regular = False
    if name == STDIN:
        content = _read(name, stdin, most)
    else:
        try:
            with _unpacking(name, ending) as (file, regular):
                content = _read(name, file, most, os.path.getsize(name) if regular else 0, ending)
        except PickbestError:
            raise
        except IsADirectoryError as error:
            raise PickbestError(f"{name}: this is a folder") from error
        except FileNotFoundError as error:
            raise PickbestError(f"{name}: there is no such file") from error
        except Exception as error:  # an OSError, or what the module that unpacks calls it
            reason = getattr(error, "strerror", None) or error
            raise PickbestError(f"{name}: cannot be read ({reason})") from error
    if not content.strip():  # some solvers take it for a formula that holds
        raise PickbestError(f"{name}: nothing is in it")
    format = _format(name, content)
    with _plain_file(name, content, format, regular and ending in SUFFIXES) as path:
        problem = Problem(name, path, format, content, logic)
        try:
            yield problem
        finally:
            problem.close()


@contextmanager
def _unpacking(name: str, ending: str) -> Iterator[tuple[IO[bytes], bool]]:
    """(a file or pipe to be read, unpacked; whether it is a file that can be read again)."""
    with open(name, "rb") as raw:
        regular = stat.S_ISREG(os.fstat(raw.fileno()).st_mode)
        if ending not in PACKED:
            yield raw, regular
            return
        with import_module(PACKED[ending]).open(raw, "rb") as file:
            yield cast(IO[bytes], file), regular


def _read(
    name: str, file: IO[bytes] | BinaryIO, most: int | None, size: int = 0, ending: str = ""
) -> bytes:
    limit = MOST_BYTES if most is None else most
    if size > limit:
        raise PickbestError(_too_long(name, limit))
    chunks, total = [], 0
    while chunk := file.read(CHUNK):
        total += len(chunk)
        if total > limit:
            raise PickbestError(_too_long(name, limit))
        packed = most is None and ending in PACKED and total > SUSPICIOUS_BYTES
        if packed and total > SUSPICIOUS_RATIO * size:
            raise PickbestError(
                f"{name}: unpacks to more than {SUSPICIOUS_RATIO} times its size; if that is "
                "right, say with --most-bytes how long it may become"
            )
        chunks.append(chunk)
    return b"".join(chunks)


def _too_long(name: str, limit: int) -> str:
    return f"{name}: longer than {limit} bytes; --most-bytes sets another limit"


@contextmanager
def _plain_file(name: str, content: bytes, format: str, is_plain: bool) -> Iterator[str]:
    if is_plain:
        yield name if os.path.isabs(name) else os.path.join(os.getcwd(), name)
        return
    suffix = next(end for end, kind in SUFFIXES.items() if kind == format)
    try:
        file: Any = tempfile.NamedTemporaryFile(prefix=temporary_prefix(), suffix=suffix)  # noqa: SIM115
        with file:
            file.write(content)
            file.flush()
            yield file.name
    except OSError as error:
        if sys.exc_info()[1] is not error or error.filename is None:
            raise
        raise PickbestError(f"{name}: cannot be unpacked to a file ({error.strerror})") from error


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
