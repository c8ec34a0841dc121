"""What a call is told and tells: our own options, those of other solvers, standard streams."""

import argparse
import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import BinaryIO, NamedTuple, NoReturn

from pickbest.core.errors import PickbestError, nearest
from pickbest.core.text import printable

DAY = 86_400.0
STDIN = "-"
CHUNK = 1 << 16
ABOUT = """\
Solve SAT and SMT problems with the installed solvers. pickbest runs those that were best on
similar problems side by side, prints the first answer, and stops the others.

Use it in place of a solver: standard output and the exit code are a solver's (10 and 20 for CNF;
the winner's own for SMT-LIB). Messages go to standard error. There is nothing to set up. What
pickbest learns is stored in $XDG_DATA_HOME/pickbest/solve.
"""
EXAMPLES = """\
examples:
  pickbest solve problem.smt2              in place of: z3 problem.smt2
  pickbest solve --who formula.cnf.xz      report on standard error who answered
  generate | pickbest solve -T:10 -        standard input; ten seconds, as for z3
  pickbest solve --list                    list the solvers that were found
  pickbest solve --frozen --confirm p.smt2 in CI: learn nothing, two solvers must agree
"""
# Solvers under whose names we may be called (a link z3 -> pickbest-solve).
NAMES = (
    "z3", "cvc5", "cvc4", "yices-smt2", "bitwuzla", "boolector", "mathsat", "kissat", "cadical",
    "minisat", "glucose", "cryptominisat5", "picosat", "lingeling",
)  # fmt: skip
SAT_NAMES = NAMES[7:]
_NUMBER = r"(\d+(?:\.\d+)?)"
# (solvers, their words, our words): a blank in a pattern stands between two words; PASSED: the word
# is for that solver, and is handed to it; "": it changes nothing here.
PASSED = "\0"
FOREIGN = (
    ("z3", "-in", "--session"),
    ("z3", f"-T:{_NUMBER}", r"--deadline=\1"),
    ("z3", r"-t:(\d+)|timeout=(\d+)", r"--check-seconds=\1\2e-3"),
    ("z3", r"-memory:(\d+)|memory_max_size=(\d+)", r"--memory=\1\2"),
    ("z3", "-smt2|-dimacs|-st|-q|-nw|-v:.*", ""),
    ("z3", "-version", "--version"),
    ("z3", r"-model|\w+(?:\.\w+)*=\S*", PASSED),
    ("cvc5 cvc4", r"(?:-L|--lang)(?:=|[ ])?(?:smt2(?:\.\d)?|smtlib2?(?:\.\d)?|auto)", ""),
    ("bitwuzla", r"--lang(?:=| )smt2", ""),
    ("cvc5 cvc4 yices-smt2 boolector", "-i|--incremental|--interactive", "--session"),
    ("cvc5 cvc4", r"--tlimit(?:=| )(\d+)", r"--deadline=\1e-3"),
    ("cvc5 cvc4", r"--tlimit-per(?:=| )(\d+)", r"--check-seconds=\1e-3"),
    ("cvc5 cvc4", r"--rlimit(?:-per)?(?:=| )\d+", ""),
    ("cvc5 cvc4", "-m|-q|-qq|-v|--(?:no-)?(?:produce-[a-z-]+|print-success|stats|interactive)", ""),
    ("cvc5 cvc4", "--strings-exp|--dump-models", ""),
    ("cvc5 cvc4 yices-smt2 kissat cadical", "-V", "--version"),
    ("cvc5 cvc4", r"--(?:no-)?[a-z][a-z-]*(?:=\S*)?|--seed(?:=| )\d+", PASSED),
    ("yices-smt2", rf"(?:--timeout=|-t ){_NUMBER}", r"--deadline=\1"),
    ("yices-smt2", r"--smt2-model-format|-s|--stats|--verbosity=\d+|-v \d+", ""),
    ("yices-smt2", r"--mcsat|--bvconst-in-decimal|--delegate=\w+|-n \d+|--nthreads=\d+", PASSED),
    ("bitwuzla", r"(?:-t|--time-limit)(?:=| )(\d+)", r"--deadline=\1e-3"),
    ("bitwuzla", r"(?:-T|--time-limit-per)(?:=| )(\d+)", r"--check-seconds=\1e-3"),
    ("bitwuzla", r"(?:-M|--memory-limit)(?:=| )(\d+)", r"--memory=\1"),
    ("bitwuzla", r"-m|--produce-models|-v|-q|--verbosity(?:=| )\d+", ""),
    ("boolector", rf"(?:-t|--time)(?:=| ){_NUMBER}", r"--deadline=\1"),
    ("boolector", r"--smt2|-m|--model-gen(?:=\d)?|-v|--verbosity(?:=| )\d", ""),
    ("kissat", rf"--time={_NUMBER}", r"--deadline=\1"),
    ("cadical", rf"-t {_NUMBER}", r"--deadline=\1"),
    ("kissat cadical lingeling picosat", "-q|-v|--quiet|--verbose|--relaxed|-f", ""),
    ("kissat cadical", r"--(?:un)?sat|--(?:no-)?[a-z]+(?:=\S*)?", PASSED),
    ("minisat glucose", rf"-cpu-lim={_NUMBER}", r"--deadline=\1"),
    ("minisat glucose", r"-mem-lim=(\d+)", r"--memory=\1"),
    ("minisat glucose", r"-verb=\d|-(?:no-)?pre|-model", ""),
)


class Arguments(NamedTuple):
    """What was asked for.

    action: solve, session, list, learn, stats, export, import or version.
    budget: how many solvers run side by side. deadline: seconds for a problem, with everything.
    check_seconds: for each check-sat; 0: no limit. memory: bytes for each solver.
    solvers: only these, where any are named. tables: files of further solvers.
    called: the solver under whose name we are called, else "". passed: words for that solver.
    passed_over: words that mean nothing to us.
    """

    files: tuple[str, ...] = ()
    action: str = "solve"
    budget: int = 2
    deadline: float = DAY
    check_seconds: float = 0.0
    memory: int | None = None
    solvers: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    who: bool = False
    as_json: bool = False
    frozen: bool = False
    confirm: bool = False
    fail_unknown: bool = False
    target: str = ""
    called: str = ""
    passed: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()


class Streams(NamedTuple):
    """Standard input, and the numbers of standard output and error."""

    stdin: BinaryIO
    stdout: int = 1
    stderr: int = 2

    def write(self, pieces: Iterable[bytes]) -> None:
        """Nothing is held back: a call whose time is over must not wait for its reader."""
        held = bytearray()
        for piece in pieces:
            held += piece
            if len(held) > CHUNK:
                _write(self.stdout, held)
        _write(self.stdout, held)

    def say(self, text: str) -> None:
        with contextlib.suppress(OSError):  # nobody listens
            _write(self.stderr, bytearray(f"{printable(text)}\n".encode()))


def _write(descriptor: int, data: bytearray) -> None:
    while data:
        del data[: os.write(descriptor, data[:CHUNK])]


class TimeUp(BaseException):
    """The deadline of the whole call, with reading, checking and printing, is over."""


class HelpShown(Exception):  # noqa: N818
    """Help was asked for: here it is."""


class _Parser(argparse.ArgumentParser):
    """Raises, so that errors look like those of the other commands."""

    def error(self, message: str) -> NoReturn:
        raise PickbestError(f"{message}; see `pickbest solve --help`")

    def print_help(self, file: object = None) -> NoReturn:
        raise HelpShown(self.format_help())


def parse(words: Sequence[str], program: str = "") -> Arguments:
    """PickbestError for words that mean nothing, HelpShown for --help.

    program: the name under which we were started.
    """
    words = list(words)
    called = os.path.basename(program)
    if words[:1] == ["--as"]:
        called, words = words[1] if len(words) > 1 else "", words[2:]
        if called not in NAMES:
            raise PickbestError(f"--as must name one of {', '.join(NAMES)}, got {called!r}")
    called = called if called in NAMES else ""
    parser = own_parser()
    ours, passed, passed_over = _translated(words, called, parser)
    given = parser.parse_args(ours)
    actions = ("version", "list", "learn", "stats", "export", "import_", "session")
    action = next((name for name in actions if getattr(given, name)), "solve").rstrip("_")
    files = tuple(given.files)
    if action == "session" and files:  # a file is read, however it is called
        action = "solve"
    if action == "solve" and not files:
        action = "solve" if called in SAT_NAMES else "session"
        files = (STDIN,) if called in SAT_NAMES else ()
    if files.count(STDIN) > 1:
        raise PickbestError("standard input can be read once: give - only once")
    if (given.budget, given.deadline, given.memory) != (2, DAY, None):
        # A millisecond, which most sessions do without.
        from pickbest.core.checks import check_count, check_positive

        check_count("--budget", given.budget, 2 if given.confirm else 1)
        check_positive("--deadline", given.deadline)
        check_positive("--memory", 1.0 if given.memory is None else given.memory)
    return Arguments(
        files, action, given.budget, given.deadline, given.check_seconds,
        None if given.memory is None else int(given.memory * 1024**2),
        tuple(given.solver), tuple(given.solvers), given.who, given.json,
        given.frozen, given.confirm, given.fail_unknown,
        given.export or given.import_ or "", called, tuple(passed), tuple(passed_over),
    )  # fmt: skip


def own_parser() -> _Parser:
    # The width is given: to ask the terminal for it takes milliseconds of imports.
    formatter = partial(argparse.RawDescriptionHelpFormatter, width=100)
    parser = _Parser(
        "pickbest solve", description=ABOUT, epilog=EXAMPLES, allow_abbrev=False,
        formatter_class=formatter,
    )  # fmt: skip
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="SMT-LIB 2 or DIMACS CNF, plain or .gz .xz .bz2")
    add("--budget", "-b", type=int, default=2, metavar="N", help="solvers to run at once (2)")
    add(
        "--deadline", "-t", type=float, default=DAY, metavar="S", help="seconds per problem (a day)"
    )
    add("--memory", type=float, metavar="MB", help="megabytes of memory for each solver")
    add("--solver", action="append", default=[], metavar="NAME", help="use only this; repeatable")
    add("--solvers", action="append", default=[], metavar="FILE", help="a solvers.toml; repeatable")
    add("--who", "-w", action="store_true", help="report on standard error who answered, and when")
    add("--json", action="store_true", help="print one JSON object per problem, not its answer")
    add("--frozen", action="store_true", help="use what was learned, but learn nothing")
    add("--confirm", action="store_true", help="print an answer only if two solvers agree")
    add("--fail-unknown", action="store_true", help="end with exit code 1 if there is no answer")
    add("--session", "-in", action="store_true", help="talk SMT-LIB on standard input and output")
    add("--as", metavar="NAME", help="behave as this solver; must be the first word")
    add("--list", action="store_true", help="list the solvers and profiles, and exit")
    add("--stats", action="store_true", help="compare past calls with each solver alone, and exit")
    add("--export", metavar="FILE", help="write the recorded calls to a file, and exit")
    add("--import", dest="import_", metavar="FILE", help="add the calls of an export, and exit")
    add("--learn", action="store_true", help="learn now from waiting calls, and exit")
    add("--version", action="store_true", help="show the version, and exit")
    add("--check-seconds", type=float, default=0.0, help=argparse.SUPPRESS)
    return parser


def _translated(
    words: Sequence[str], called: str, parser: argparse.ArgumentParser
) -> tuple[list[str], list[str], list[str]]:
    """(our words, words for the solver that we are called as, words that mean nothing)."""
    # Our own options, and whether a value comes next.
    known = {each: a.nargs is None for a in parser._actions for each in a.option_strings}
    own = {name: known[name] for name in ("--help", "--version")} if called else known
    ours: list[str] = []
    passed: list[str] = []
    passed_over: list[str] = []
    left = list(words)
    while left:
        word = left[0]
        name, _, value = word.partition("=")
        is_option = word.startswith("-") and word != STDIN
        count, said = (1, None) if name in own else _in_our_words(left[:2], called)
        if name in own:
            count = 2 if own[name] and not value else 1
            ours += left[:count]
        elif said == PASSED:
            passed += left[:count] if called else []
        elif said is not None:
            ours += said.split()
        elif called and (is_option or word == ""):
            passed_over.append(word)
        elif is_option:
            near = nearest(name, own)
            hint = f"; did you mean {near}? See" if near else "; see"
            raise PickbestError(f"no such option: {word}{hint} `pickbest solve --help`")
        else:
            ours.append(word)
        del left[:count]
    return ours, passed, passed_over


def _in_our_words(words: Sequence[str], called: str) -> tuple[int, str | None]:
    """(how many words were read, what they mean here); None: nothing that we know."""
    if words[0][:1] != "-" and "=" not in words[0]:  # a file: most words are
        return 1, None
    for pattern, ours in _rows(called):
        for count in (1, 2):
            found = re.fullmatch(pattern, " ".join(words[:count])) if len(words) >= count else None
            if found and not (count == 2 and " " not in pattern):
                # A group that took no part is empty.
                return count, found.expand(ours) if ours != PASSED else PASSED
    return 1, None


def _rows(called: str) -> Iterator[tuple[str, str]]:
    for solvers, pattern, ours in FOREIGN:
        # By our own name, only what is the same for everybody is understood.
        if called in solvers.split() or (not called and ours != PASSED):
            yield pattern, ours
