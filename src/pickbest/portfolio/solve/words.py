"""What a call is told and tells: our own options, those of other solvers, standard streams."""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from pickbest.core.errors import PickbestError, nearest
from pickbest.core.text import printable

DAY = 86_400.0
STDIN = "-"
CHUNK = 1 << 16
ABOUT = """\
usage: pickbest solve [OPTIONS] [FILE]

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
FILE_HELP = "SMT-LIB 2 or DIMACS CNF, plain or .gz .xz .bz2; - is standard input"


class Option(NamedTuple):
    """One of our own options. value: how its value is called; "": it has none.

    field: of Arguments, which it sets; "action" for those that do something else than to solve.
    """

    names: tuple[str, ...]
    value: str
    help: str
    field: str = "action"


OPTIONS = (
    Option(("--help", "-h"), "", "show this help message, and exit"),
    Option(("--budget", "-b"), "N", "solvers to run at once (2)", "budget"),
    Option(("--deadline", "-t"), "S", "seconds for the problem (a day)", "deadline"),
    Option(("--memory",), "MB", "megabytes of memory for each solver", "memory"),
    Option(("--solver",), "NAME", "use only this; repeatable", "solvers"),
    Option(("--solvers",), "FILE", "a solvers.toml; repeatable", "tables"),
    Option(("--who", "-w"), "", "report on standard error who answered, and when", "who"),
    Option(("--json",), "", "print one JSON object instead of the answer", "as_json"),
    Option(("--frozen",), "", "use what was learned, but learn nothing", "frozen"),
    Option(("--confirm",), "", "print an answer only if two solvers agree", "confirm"),
    Option(("--fail-unknown",), "", "end with exit code 1 if there is no answer", "fail_unknown"),
    Option(("--session", "-in"), "", "talk SMT-LIB on standard input and output"),
    Option(("--list",), "", "list the solvers and profiles, and exit"),
    Option(("--stats",), "", "compare past calls with each solver alone, and exit"),
    Option(("--export",), "FILE", "write the recorded calls to a file, and exit"),
    Option(("--import",), "FILE", "add the calls of an export, and exit"),
    Option(("--learn",), "", "learn now from waiting calls, and exit"),
    Option(("--version",), "", "show the version, and exit"),
)
OWN = {name: option for option in OPTIONS for name in option.names}
# Solvers under whose names we may be called (a link z3 -> pickbest-solve).
SAT_NAMES = ("kissat", "cadical")
NAMES = ("z3", "cvc5", "yices-smt2", "bitwuzla", "boolector", *SAT_NAMES)
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
    ("cvc5", r"(?:-L|--lang)(?:=|[ ])?(?:smt2(?:\.\d)?|smtlib2?(?:\.\d)?|auto)", ""),
    ("bitwuzla", r"--lang(?:=| )smt2", ""),
    ("cvc5 yices-smt2 boolector", "-i|--incremental|--interactive", "--session"),
    ("cvc5", r"--tlimit(?:=| )(\d+)", r"--deadline=\1e-3"),
    ("cvc5", r"--tlimit-per(?:=| )(\d+)", r"--check-seconds=\1e-3"),
    ("cvc5", r"--rlimit(?:-per)?(?:=| )\d+", ""),
    ("cvc5", "-m|-q|-qq|-v|--(?:no-)?(?:produce-[a-z-]+|print-success|stats|interactive)", ""),
    ("cvc5", "--strings-exp|--dump-models", ""),
    ("cvc5 yices-smt2 kissat cadical", "-V", "--version"),
    ("cvc5", r"--(?:no-)?[a-z][a-z-]*(?:=\S*)?|--seed(?:=| )\d+", PASSED),
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
    ("kissat cadical", "-q|-v|--quiet|--verbose|--relaxed|-f", ""),
    ("kissat cadical", r"--(?:un)?sat|--(?:no-)?[a-z]+(?:=\S*)?", PASSED),
)


class Arguments(NamedTuple):
    """What was asked for.

    action: solve, session, list, learn, stats, export, import, help or version.
    file: the problem. target: the file of an export or import.
    budget: how many solvers run side by side. deadline: seconds for the problem, with everything.
    check_seconds: for each check-sat; 0: no limit. memory: megabytes for each solver.
    solvers: only these, where any are named. tables: files of further solvers.
    called: the solver under whose name we are called, else "". passed: words for that solver.
    passed_over: words that mean nothing to us.
    """

    file: str = ""
    action: str = "solve"
    budget: int = 2
    deadline: float = DAY
    check_seconds: float = 0.0
    memory: float | None = None
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

    @property
    def memory_bytes(self) -> int | None:
        return None if self.memory is None else int(self.memory * 1024**2)

    def passed_to(self, programs: str) -> tuple[str, ...]:
        """Words for the solver that we are called as, if it has these names."""
        return self.passed if self.called in programs.split() else ()


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


def parse(words: Sequence[str], program: str = "") -> Arguments:
    """PickbestError for words that mean nothing. program: the name under which we were started."""
    called = os.path.basename(program)
    called = called if called in NAMES else ""
    own = ("--help", "--version") if called else OWN
    found = Arguments(called=called)
    files: list[str] = []
    left = list(words)
    while left:
        word, (name, equals, value) = left[0], left[0].partition("=")
        is_option = word.startswith("-") and word != STDIN
        count, said = (1, None) if name in own else _in_our_words(left[:2], called)
        if name in own:
            count = 2 if OWN[name].value and not equals else 1
            found = _with(found, name, value if equals else " ".join(left[1:count]))
        elif said == PASSED:
            found = found._replace(passed=(*found.passed, *left[:count]))
        elif said:
            found = _with(found, *said.partition("=")[::2])
        elif said is None and called and (is_option or word == ""):
            found = found._replace(passed_over=(*found.passed_over, word))
        elif said is None and is_option:
            near = nearest(name, own)
            hint = f"; did you mean {near}? See" if near else "; see"
            raise PickbestError(f"no such option: {word}{hint} `pickbest solve --help`")
        elif said is None:
            files.append(word)
        del left[:count]
    if len(files) > 1:
        raise PickbestError(f"one problem at a time, got {len(files)}: call it once for each")
    return _checked(found, *files)


def _with(found: Arguments, name: str, value: str) -> Arguments:
    """The arguments with one more option."""
    if name == "--check-seconds":  # other solvers' words say so
        return found._replace(check_seconds=float(value))
    _, takes, _, field = OWN[name]
    if bool(takes) != bool(value):
        needs = "needs a value" if takes else f"takes no value, got {value!r:.80}"
        raise PickbestError(f"{name} {needs}; see `pickbest solve --help`")
    if field == "action":
        return found._replace(action=OWN[name].names[0].strip("-"), target=value)
    before: Any = getattr(found, field)
    told: Any = True
    if isinstance(before, tuple):
        told = (*before, value)
    elif takes:
        try:
            told = int(value) if field == "budget" else float(value)
        except ValueError:
            raise PickbestError(f"{name} must be a number, got {value!r:.80}") from None
    return found._replace(**{field: told})


def _checked(found: Arguments, file: str = "") -> Arguments:
    """What is asked for in the end; numbers are checked."""
    action = found.action
    if action in ("solve", "session"):  # a file is read, however it is called
        if not file and action == "solve" and found.called in SAT_NAMES:
            file = STDIN
        action = "solve" if file else "session"
    if (found.budget, found.deadline, found.memory) != (2, DAY, None):
        # A millisecond, which most sessions do without.
        from pickbest.core.checks import check_count, check_positive

        check_count("--budget", found.budget, 2 if found.confirm else 1)
        check_positive("--deadline", found.deadline)
        check_positive("--memory", 1.0 if found.memory is None else found.memory)
    return found._replace(action=action, file=file)


def help_text() -> str:
    """What `--help` prints."""
    rows = [(", ".join(each.names), each.value, each.help) for each in OPTIONS]
    shown = [
        ("FILE", FILE_HELP),
        *((f"{names} {value}".strip(), said) for names, value, said in rows),
    ]
    lines = "".join(f"  {names:18} {said}\n" for names, said in shown)
    return f"{ABOUT}\noptions:\n{lines}\n{EXAMPLES}"


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
