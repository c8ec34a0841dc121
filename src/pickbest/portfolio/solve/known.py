"""The SAT and SMT solvers that people have: how each is called, and which are installed here.

A table, so that a solver is one line. `solvers.toml` adds lines of the user's own. Nothing but the
standard library is imported here: what `pickbest solve` loads before the solvers run is time that
the user waits.
"""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from pickbest.core.errors import PickbestError, unknown_name

DIMACS, SMTLIB = "dimacs", "smtlib"
PROBLEM = "{problem}"
# Runs a solver that is only a Python module.
RUNNER = "pickbest.portfolio.solve.modules"
# Arms inherit this variable, so that a solver that turns out to be `pickbest solve` under another
# name does not start a race of its own.
INSIDE = "PICKBEST_SOLVE_INSIDE"

# What solvers of one theory take: with or without quantifiers, arrays, functions, floats.
BIT_VECTORS = r"(QF_)?A?(UF)?(BV|FP|BVFP|FPLRA|BVFPLRA)"
# Everything but quantified functions, floats, strings, data types and nonlinear bit-blasting.
YICES = r"(QF_)?(LIA|LRA|LIRA|IDL|RDL|BV)|QF_(AX|A?(UF)?(BV|IDL|RDL|LIA|LRA|LIRA|NIA|NRA|NIRA)?)"
STRINGS = r"(QF_)?(UF)?S(LIA|NIA)?"


class Solver(NamedTuple):
    """One line of the table; several words of a field have blanks between them.

    programs: names on PATH; the first that is there is taken. arguments: after the program.
    models, incremental, strings: arguments that are added where a script asks for models, for more
        than one answer, or has strings.
    module: a Python module that is run instead where no program is there; see `modules`.
    logics: which SMT-LIB logics it takes, as a pattern; ALL is a script whose logic is not known.
    session: arguments with which it reads commands from standard input; "": it cannot.
    module_talks: whether its module can, too.
    needs_logic: it refuses scripts that do not set their logic.
    forgets: after a check under assumptions it may answer the next check wrongly, and is started
        anew.
    extra: words of a profile.
    """

    name: str
    format: str
    programs: str = ""
    arguments: str = PROBLEM
    module: str = ""
    models: str = ""
    incremental: str = ""
    logics: str = ".*"
    session: str = ""
    strings: str = ""
    module_talks: bool = False
    needs_logic: bool = False
    forgets: bool = False
    extra: tuple[str, ...] = ()


_CVC, _MODELS, _MORE = "--lang=smt2 {problem}", "--produce-models", "--incremental"
# --strings-exp slows cvc5 and cvc4 down on all else, and ends at quantifiers.
_CVC_REST = ".*", "--lang=smt2 --incremental -q", "--strings-exp"
_BTOR = "--model-gen=1", _MORE, r"QF_A?(UF)?BV|BV"
SOLVERS = (
    Solver("z3", SMTLIB, "z3", "-smt2 {problem}", session="-in -smt2"),
    Solver("cvc5", SMTLIB, "cvc5", _CVC, "cvc5", _MODELS, _MORE, *_CVC_REST, module_talks=True),
    Solver("cvc4", SMTLIB, "cvc4", _CVC, "", _MODELS, _MORE, *_CVC_REST),
    Solver(
        "yices", SMTLIB, "yices-smt2 yices_smt2", "--smt2-model-format {problem}",
        incremental=_MORE, logics=YICES, session="--incremental --smt2-model-format",
        # 2.6.5: when assumptions were unsat, it may call the next check sat although what is
        # asserted alone is unsat.
        needs_logic=True, forgets=True,
    ),
    Solver(
        "bitwuzla", SMTLIB, "bitwuzla", PROBLEM, "bitwuzla", _MODELS, "", BIT_VECTORS, _MODELS
    ),
    Solver("boolector", SMTLIB, "boolector", "--smt2 {problem}", "pyboolector", *_BTOR),
    Solver("mathsat", SMTLIB, "mathsat", "-input=smt2 {problem}", "", "-model_generation=true"),
    Solver("opensmt", SMTLIB, "opensmt", logics=r"QF_(UF|AX|A?(UF)?(LIA|LRA|IDL|RDL))"),
    Solver("cadical", DIMACS, "cadical", "-q {problem}", "pysat:cadical195"),
    Solver("kissat", DIMACS, "kissat", "-q {problem}", "pysat:kissat404"),
    Solver(
        "minisat", DIMACS, "minisat minisat2", "-verb=0 {problem} /dev/stdout", "pysat:minisat22"
    ),
    Solver(
        "glucose", DIMACS, "glucose glucose-simp", "-model -verb=0 {problem}", "pysat:glucose42"
    ),
    Solver(
        "cryptominisat", DIMACS, "cryptominisat5 cryptominisat", "--verb=0 {problem}", "pycryptosat"
    ),
    Solver("picosat", DIMACS, "picosat"),
    Solver("clasp", DIMACS, "clasp", "--verbose=0 {problem}"),
    Solver("lingeling", DIMACS, "lingeling", "-q {problem}", "pysat:lingeling"),
    Solver("yices-sat", DIMACS, "yices-sat", "-m {problem}"),
    Solver("maplechrono", DIMACS, module="pysat:maplechrono"),
    Solver("mergesat", DIMACS, "mergesat", "-verb=0 -model {problem}", "pysat:mergesat3"),
)  # fmt: skip
# Ready-made profiles that `solvers.toml` may switch on: (name, solver, further words).
PROFILES = (
    ("z3-smt", "z3", "tactic.default_tactic=smt"),
    ("z3-sat-euf", "z3", "tactic.default_tactic=smt sat.euf=true"),
    ("z3-no-le2extract", "z3", "rewriter.bv_le2extract=false"),
    ("cvc5-arrays", "cvc5", "--arrays-exp"),
    ("cvc5-enum", "cvc5", "--enum-inst"),
    ("bitwuzla-prop", "bitwuzla", "--bv-solver=preprop"),
)


# As these say it, where we stand for one that is not here.
VERSIONS = {
    "z3": "Z3 version 4.13.0 - 64 bit\n",
    "cvc5": "This is cvc5 version 1.2.0\n",
    "cvc4": "This is CVC4 version 1.8\n",
    "yices-smt2": "Yices 2.6.5\n",
    "bitwuzla": "0.7.0\n",
    "boolector": "3.2.4\n",
    "kissat": "4.0.1\n",
    "cadical": "2.1.0\n",
}


class Installed(NamedTuple):
    """A solver of the table that can be started: argv is complete but for the problem."""

    name: str
    argv: tuple[str, ...]
    solver: Solver
    is_module: bool = False

    def on(self, path: str) -> tuple[str, ...]:
        """The command line for a problem."""
        return tuple(word.replace(PROBLEM, path) for word in self.argv)


def installed(
    format: str,
    logic: str = "ALL",
    models: bool = False,
    incremental: bool = False,
    table: Iterable[Solver] = SOLVERS,
) -> dict[str, Installed]:
    """The solvers of a format that are here and take the logic, by name."""
    path = places()
    found = (
        located(solver, path, logic, models, incremental)
        for solver in table
        if solver.format == format and takes(solver, logic)
    )
    return {each.name: each for each in found if each is not None}


def located(
    solver: Solver,
    path: Iterable[str],
    logic: str = "ALL",
    models: bool = False,
    incremental: bool = False,
    session: bool = False,
) -> Installed | None:
    """A solver in one of these folders, or a module that stands in for it; None: neither.

    session: as it is started to be talked to; None also where it cannot be.
    """
    asked = f"{solver.models * models} {solver.incremental * incremental} {solver.arguments}"
    words = (solver.session if session else asked).split()
    if words:
        words = [*for_strings(solver, logic), *words]
    for name in solver.programs.split() if words else ():
        if program := which(name, path):
            return Installed(solver.name, (program, *solver.extra, *words), solver)
    module = solver.module if solver.module_talks or not session else ""
    if words and module and not solver.extra and has_module(module.partition(":")[0]):
        more = ("--session",) if session else ("--incremental",) * incremental + (PROBLEM,)
        # The current folder is not searched for modules.
        argv = (sys.executable, "-P", "-m", RUNNER, module, *more)
        return Installed(solver.name, argv, solver, is_module=True)
    return None


def for_strings(solver: Solver, logic: str) -> list[str]:
    """What it must be told before all else for a logic."""
    return solver.strings.split() if re.fullmatch(STRINGS, logic) else []


def takes(solver: Solver, logic: str) -> bool:
    """Whether a solver is for scripts of a logic.

    >>> [solver.name for solver in SOLVERS if solver.format == SMTLIB and takes(solver, "QF_S")]
    ['z3', 'cvc5', 'cvc4', 'mathsat']
    """
    return solver.format == DIMACS or re.fullmatch(solver.logics, logic) is not None


def places() -> list[str]:
    """Where programs are looked for: PATH, next to this Python, and where wheels put them.

    Relative folders of PATH are left out: what lies next to a problem is not run.
    """
    named = os.environ.get("PATH", os.defpath).split(os.pathsep)
    beside = [os.path.dirname(sys.executable)]
    wheels = [os.path.join(entry, "sage_wheels", "bin") for entry in sys.path if entry]
    return list(dict.fromkeys(each for each in (*named, *beside, *wheels) if os.path.isabs(each)))


def which(name: str, path: Iterable[str]) -> str | None:
    """A program by its name or path; one that is `pickbest solve` in disguise is passed over."""
    for folder in path:
        program = os.path.join(folder, name)
        if os.access(program, os.X_OK) and os.path.isfile(program) and not _ourselves(program):
            return program
    return None


def _ourselves(program: str) -> bool:
    """A link to this program, or a script that calls it."""
    if os.path.basename(os.path.realpath(program)).startswith("pickbest"):
        return True
    try:
        with open(program, "rb") as file:
            return file.read(2) == b"#!" and b"pickbest" in file.read(1 << 16)
    except OSError:
        return False


def has_module(name: str) -> bool:
    """Whether a module can be imported; it is not."""
    from importlib.util import find_spec

    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def solver_table(own: Iterable[str] = (), wanted: Iterable[str] = ()) -> dict[str, Solver]:
    """The table with the lines of `solvers.toml`: the user's file, and those that are named.

    wanted: solvers that must be in it.
    A file that merely lies in the current folder is not read: it says which programs are run.
    """
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    usual = os.path.join(home, "pickbest", "solvers.toml")
    table = {solver.name: solver for solver in SOLVERS}
    for path in (*([usual] if os.path.isfile(usual) else []), *own):
        table = _extended(table, path)
    for name in wanted:
        if name not in table:
            raise unknown_name("solver", name, table)
    return table


def _extended(table: Mapping[str, Solver], path: str) -> dict[str, Solver]:
    import tomllib

    ready = {
        name: {"name": name, "base": base, "options": words.split()}
        for name, base, words in PROFILES
    }
    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except (OSError, ValueError) as error:
        raise PickbestError(f"{path}: cannot be read ({error})") from error
    try:
        if unknown := content.keys() - {"leave_out", "use", "solver"}:
            raise unknown_name("key", min(unknown), ("solver", "use", "leave_out"))
        left_out, used = _words(content, "leave_out"), _words(content, "use")
        for name in used:
            if name not in ready:
                raise unknown_name("profile", name, ready)
        lines = [*(ready[name] for name in used), *content.get("solver", [])]
        added = [_own(table, line) for line in lines]
    except (PickbestError, TypeError, AttributeError) as error:
        raise PickbestError(f"{path}: {error}") from error
    found = {**table, **{solver.name: solver for solver in added}}
    return {name: solver for name, solver in found.items() if name not in left_out}


def _own(table: Mapping[str, Solver], line: Mapping[str, Any]) -> Solver:
    """What one [[solver]] adds: a profile of a solver in the table, or a command of its own."""
    known = {"name", "base", "options", "command", "session", "format", "logics"}
    if unknown := line.keys() - known:
        raise unknown_name("key of a solver", min(unknown), known)
    name, base = str(line.get("name", "")), str(line.get("base", ""))
    if not re.fullmatch(r"[\w.+-]{1,40}", name):
        raise PickbestError(f"a solver needs a name of letters, digits and .+-_, got {name!r}")
    command, options = _words(line, "command"), _words(line, "options")
    if not command and base not in table:
        raise unknown_name("solver", base, table)
    if not command:
        return table[base]._replace(name=name, extra=(*table[base].extra, *options))
    format = line.get("format", SMTLIB)
    if format not in (DIMACS, SMTLIB):
        raise unknown_name("format", str(format), (DIMACS, SMTLIB))
    words = " ".join([*options, *command[1:]])
    if PROBLEM not in words:
        raise PickbestError(f"the command of {name} must name {PROBLEM}, got {command}")
    session, logics = " ".join(_words(line, "session")), str(line.get("logics", ".*"))
    return Solver(name, format, command[0], words, logics=logics, session=session)


def _words(content: Mapping[str, Any], key: str) -> list[str]:
    words = content.get(key, [])
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise PickbestError(f"{key} must be a list of words, got {words!r:.80}")
    return words


def version_said(called: str) -> str:
    """What `--version` says: as the solver whose name we answer to, or as one as good as any."""
    if not called:
        from pickbest._version import __version__

        return f"pickbest {__version__}\n"
    program = which(called, places())
    return (_said(program) if program else "") or VERSIONS.get(called, "1.0\n")


def version_of(here: Installed) -> str:
    """The version of a solver, in numbers; "": nobody knows."""
    from importlib.metadata import PackageNotFoundError, version

    module, text = here.solver.module.partition(":")[0], ""
    if not here.is_module:
        text = _said(here.argv[0])
    else:
        with suppress(PackageNotFoundError):
            text = version({"pysat": "python-sat"}.get(module, module))
    found = re.search(r"\d+(\.\d+)+", text)
    return found[0] if found else ""


def _said(program: str) -> str:
    import subprocess

    try:
        command = [program, "--version"]
        done = subprocess.run(command, capture_output=True, timeout=10, check=True, text=True)
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return done.stdout


def nested() -> bool:
    """Whether this call is a solver of another call: a race within a race would never end."""
    return INSIDE in os.environ
