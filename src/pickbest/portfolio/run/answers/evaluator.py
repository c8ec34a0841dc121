"""A second SMT solver, to evaluate what the first one claims."""

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.runs import Task

# A formula in which everything has a value takes milliseconds; quantifiers may take for ever.
SECONDS = 10.0
MEMORY_BYTES = 4 * 1024**3
# How each is called on a file in SMT-LIB; those of the widest logics first.
PROGRAMS = {"cvc5": "--lang=smt2", "z3": "-smt2", "cvc4": "--lang=smt2", "bitwuzla": ""}


def installed_evaluators() -> dict[str, str]:
    """Name and path of each that is installed, also beside this Python."""
    places = os.pathsep.join([os.environ.get("PATH", ""), str(Path(sys.executable).parent)])
    found = {name: shutil.which(name, path=places) for name in PROGRAMS}
    return {name: path for name, path in found.items() if path}


@dataclass(frozen=True)
class Evaluator:
    """Asks the solvers that are installed, but never the one whose answer is in doubt.

    engine: runs them under guards, with limits, so that nothing of them is left behind.
    """

    engine: LocalEngine

    def __call__(self, script: str, besides: str) -> str:
        """ "sat" or "unsat" of the first that knows; "": none does, or none is there."""
        found = installed_evaluators()
        found.pop(Path(besides).name, None)
        if not found:
            return ""
        with tempfile.TemporaryDirectory(prefix="pickbest-") as folder:
            path = Path(folder, "model.smt2")
            path.write_text(script, encoding="utf-8")
            said = (self._asked(name, program, path) for name, program in found.items())
            return next((word for word in said if word), "")

    def _asked(self, name: str, program: str, path: Path) -> str:
        argv = (program, *PROGRAMS[name].split(), str(path))
        task = Task(name, SECONDS, argv=argv, cwd=str(path.parent), memory_bytes=MEMORY_BYTES)
        (run,) = self.engine.race([task], lambda run: False, lambda: False)
        words = run.stdout.split()
        return words[0] if words in (["sat"], ["unsat"]) else ""
