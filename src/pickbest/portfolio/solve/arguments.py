"""The words of a call, and what they mean: the same for `pickbest solve` and for its daemon."""

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NoReturn

from pickbest.core import PickbestError
from pickbest.portfolio.solve.call import DAY, Options
from pickbest.portfolio.solve.problem import STDIN

ABOUT = """\
Solve SAT and SMT problems with the solvers that are installed here: the ones that have been best
on such problems are run side by side, the first answer is printed, the others are stopped.

In place of a solver: standard output and the exit code are what a solver would give (10 and 20
for CNF; the winner's own for SMT-LIB). All else goes to standard error. Nothing needs to be set
up; what was learned is kept in $XDG_DATA_HOME/pickbest/solve.
"""
EXAMPLES = """\
examples:
  pickbest solve problem.smt2              in place of: z3 problem.smt2
  pickbest solve --who formula.cnf.xz      say on standard error who answered
  generate | pickbest solve -T:10 -        standard input; as z3, ten seconds
  pickbest solve --list                    which solvers are found
  pickbest solve --daemon &                calls are quicker from now on: see docs/solve.md
"""
# How z3 is called, in our words.
_OF_Z3 = ((r"-in", "-"), (r"-T:(\d+)", r"--deadline=\1"), (r"-smt2|-dimacs", ""))


@dataclass(frozen=True)
class Arguments:
    """What was asked for. action: solve, list, learn or daemon."""

    files: tuple[str, ...]
    options: Options
    action: str = "solve"
    who: bool = False
    as_json: bool = False


class _Parser(argparse.ArgumentParser):
    """Raises, rather than to end a process that may be a daemon."""

    def error(self, message: str) -> NoReturn:
        raise PickbestError(f"{message} (see pickbest solve --help)")

    def print_help(self, file: object = None) -> NoReturn:
        raise HelpShown(self.format_help())


class HelpShown(Exception):  # noqa: N818
    """Help was asked for: here it is."""


def parse(words: Sequence[str]) -> Arguments:
    """PickbestError for words that mean nothing, HelpShown for --help."""
    given = _parser().parse_args([word for word in map(_in_our_words, words) if word])
    action = next((name for name in ("list", "learn", "daemon") if getattr(given, name)), "solve")
    if action == "solve" and not given.files:
        raise PickbestError("name at least one file, or - for standard input")
    if given.files.count(STDIN) > 1:
        raise PickbestError("standard input can be read once only")
    if given.budget < 1:
        raise PickbestError(f"--budget must be at least 1, got {given.budget}")
    if not 0.0 < given.deadline < float("inf"):
        raise PickbestError(f"--deadline must be above 0 seconds, got {given.deadline:g}")
    options = Options(given.budget, given.deadline, given.logic, tuple(given.solver))
    return Arguments(tuple(given.files), options, action, given.who, given.json)


@cache
def _parser() -> _Parser:
    parser = _Parser("pickbest solve", description=ABOUT, epilog=EXAMPLES)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="SMT-LIB 2 or DIMACS CNF, plain or .gz .xz .bz2")
    add("--budget", "-b", type=int, default=2, help="how many solvers run side by side (2)")
    add("--deadline", "-t", type=float, default=DAY, help="seconds for each problem (a day)")
    add("--logic", default="", help="the logic, instead of the script's own set-logic")
    add("--solver", action="append", default=[], help="only this one; repeatable; not learned")
    add("--who", "-w", action="store_true", help="say on standard error who answered, and when")
    add("--json", action="store_true", help="one JSON object a problem instead of its answer")
    add("--list", action="store_true", help="list the solvers that are installed, and end")
    add("--learn", action="store_true", help="learn now what waits to be learned, and end")
    add("--daemon", action="store_true", help="serve calls of this user on a Unix socket")
    return parser


def _in_our_words(word: str) -> str:
    for theirs, ours in _OF_Z3:
        if re.fullmatch(theirs, word):
            return re.sub(theirs, ours, word)
    return word
