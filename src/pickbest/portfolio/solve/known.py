"""The SAT and SMT solvers that people have: how each is called, and which are installed here.

A table, so that a solver is one line. Nothing but the standard library is imported here: what
`pickbest solve` loads before the solvers run is time that the user waits.
"""

import os
import re
import shutil
import sys
from functools import lru_cache
from importlib.util import find_spec
from typing import NamedTuple

DIMACS, SMTLIB = "dimacs", "smtlib"
FORMATS = (DIMACS, SMTLIB)
PROBLEM = "{problem}"
# Runs a solver that is only a Python module; it needs nothing of pickbest.
RUNNER = os.path.join(os.path.dirname(__file__), "modules.py")

# What solvers of one theory take: with or without quantifiers, arrays, functions, floats.
BIT_VECTORS = r"(QF_)?A?(UF)?(BV|FP|BVFP|FPLRA|BVFPLRA)"
# Everything but quantified functions, floats, strings, data types and nonlinear bit-blasting.
YICES = r"(QF_)?(LIA|LRA|LIRA|IDL|RDL|BV)|QF_(AX|A?(UF)?(BV|IDL|RDL|LIA|LRA|LIRA|NIA|NRA|NIRA)?)"

STRINGS, NO_STRINGS = r"(QF_)?(UF)?S(LIA|NIA)?", r"(?!(QF_)?(UF)?S(LIA|NIA)?$).*"


class Solver(NamedTuple):
    """One line of the table; several words of a field have blanks between them.

    programs: names on PATH, the first that is there is taken. arguments: after the program.
    models, incremental: arguments that are added where a script asks for models, or for more than
        one answer.
    module: a Python module that is run instead where no program is there; see `modules`.
    logics: which SMT-LIB logics it takes, as a pattern; ALL is a script that names none.
    """

    name: str
    format: str
    programs: str = ""
    arguments: str = PROBLEM
    module: str = ""
    models: str = ""
    incremental: str = ""
    logics: str = ".*"


# What cvc5 and cvc4 need for strings slows them down on all else, and ends at quantifiers.
_CVC, _CVC_STRINGS = "--lang=smt2 {problem}", "--lang=smt2 --strings-exp {problem}"
_MODELS, _MORE = "--produce-models", "--incremental"
_BTOR = "--model-gen=1", _MORE, r"QF_A?(UF)?BV|BV"
SOLVERS = (
    Solver("z3", SMTLIB, "z3", "-smt2 {problem}"),
    Solver("cvc5", SMTLIB, "cvc5", _CVC, "cvc5", _MODELS, _MORE, NO_STRINGS),
    Solver("cvc5", SMTLIB, "cvc5", _CVC_STRINGS, "cvc5", _MODELS, _MORE, STRINGS),
    Solver("cvc4", SMTLIB, "cvc4", _CVC, "", _MODELS, _MORE, NO_STRINGS),
    Solver("cvc4", SMTLIB, "cvc4", _CVC_STRINGS, "", _MODELS, _MORE, STRINGS),
    Solver("yices", SMTLIB, "yices-smt2 yices_smt2", incremental=_MORE, logics=YICES),
    Solver("bitwuzla", SMTLIB, "bitwuzla", PROBLEM, "bitwuzla", _MODELS, logics=BIT_VECTORS),
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
)


class Installed(NamedTuple):
    """A solver of the table that can be started: argv is complete but for the problem."""

    name: str
    argv: tuple[str, ...]

    def on(self, path: str) -> tuple[str, ...]:
        """The command line for a problem."""
        return tuple(word.replace(PROBLEM, path) for word in self.argv)


def installed(
    format: str, logic: str = "ALL", models: bool = False, incremental: bool = False
) -> dict[str, Installed]:
    """The solvers of a format that are here and take the logic, by name."""
    folders = dict.fromkeys((*places(), *sys.path))
    return dict(_installed(format, logic, models, incremental, tuple(map(_changed, folders))))


def _changed(folder: str) -> int | None:
    """When something was last put into a folder, or taken away."""
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return None


@lru_cache(maxsize=256)
def _installed(
    format: str, logic: str, models: bool, incremental: bool, changed: tuple[int | None, ...]
) -> dict[str, Installed]:
    """Looked up once, as long as no folder has changed: a daemon is asked again and again."""
    path = os.pathsep.join(places())
    fit = (solver for solver in SOLVERS if solver.format == format and takes(solver, logic))
    found = (located(solver, path, models, incremental) for solver in fit)
    return {each.name: each for each in found if each is not None}


def located(
    solver: Solver, path: str, models: bool = False, incremental: bool = False
) -> Installed | None:
    """A solver where it is on a search path, or a module that stands in for it."""
    for name in solver.programs.split():
        if program := shutil.which(name, path=path):
            asked = f"{solver.models * models} {solver.incremental * incremental}"
            return Installed(solver.name, (program, *f"{asked} {solver.arguments}".split()))
    if solver.module and has_module(solver.module.partition(":")[0]):
        argv = (sys.executable, "-P", RUNNER, solver.module, PROBLEM)
        return Installed(solver.name, argv)
    return None


def takes(solver: Solver, logic: str) -> bool:
    """Whether a solver is for scripts of a logic.

    >>> [solver.name for solver in SOLVERS if solver.format == SMTLIB and takes(solver, "QF_S")]
    ['z3', 'cvc5', 'cvc4', 'mathsat']
    """
    return solver.format == DIMACS or re.fullmatch(solver.logics, logic) is not None


def places() -> list[str]:
    """Where programs are looked for: PATH, beside this Python, and where wheels put them."""
    beside = [os.path.dirname(sys.executable)]
    wheels = [os.path.join(entry, "sage_wheels", "bin") for entry in sys.path if entry]
    return [*os.environ.get("PATH", os.defpath).split(os.pathsep), *beside, *wheels]


def has_module(name: str) -> bool:
    """Whether a module can be imported; it is not."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False
