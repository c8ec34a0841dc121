"""Solvers that are only Python modules, each as a program.

    python -m pickbest.portfolio.solve.modules MODULE [--incremental] FILE
    python -m pickbest.portfolio.solve.modules cvc5 --session

It writes what a solver's own program would write.
"""

import os
import sys
from collections.abc import Callable
from typing import Any


def bitwuzla(path: str, incremental: bool) -> int:
    import bitwuzla

    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    bitwuzla.Parser(bitwuzla.TermManager(), options).parse(path)
    return 0


def cvc5(path: str, incremental: bool) -> int:
    with open(path, "rb") as file:
        strings = b"String" in file.read()
    solver, symbols = _cvc5(incremental, strings)
    import cvc5

    parser = cvc5.InputParser(solver, symbols)
    parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, path)
    while not (command := parser.nextCommand()).isNull():
        sys.stdout.write(str(command.invoke(solver, symbols)))
        sys.stdout.flush()
    return 0


def _cvc5(incremental: bool, strings: bool) -> tuple[Any, Any]:
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("produce-models", "true")
    # It is on where nobody says otherwise, and makes single questions much slower.
    solver.setOption("incremental", "true" if incremental else "false")
    if strings:
        solver.setOption("strings-exp", "true")
    return solver, cvc5.SymbolManager(solver.getTermManager())


def pyboolector(path: str, incremental: bool) -> int:
    from pyboolector import Boolector, BtorOption

    solver = Boolector()
    solver.Set_opt(BtorOption.BTOR_OPT_MODEL_GEN, 1)
    if incremental:
        solver.Set_opt(BtorOption.BTOR_OPT_INCREMENTAL, 1)
    problem = solver.Parse(path)[2]
    if problem:
        raise SystemExit(str(problem))
    return 0


def pycryptosat(path: str, incremental: bool) -> int:
    from pycryptosat import Solver

    from pickbest.portfolio.run.answers.dimacs import read_dimacs

    solver = Solver()
    solver.add_clauses(read_dimacs(path))
    satisfiable, values = solver.solve()
    return told(satisfiable, [v if value else -v for v, value in enumerate(values or ()) if v])


def pysat(path: str, name: str) -> int:
    from pickbest.portfolio.run.answers.dimacs import solve_by_pysat

    verdict, model = solve_by_pysat(path, name)
    return told(verdict == "SAT", model or [])


def told(satisfiable: bool, model: list[int]) -> int:
    """What SAT solvers print, and their exit code."""
    print("s SATISFIABLE" if satisfiable else "s UNSATISFIABLE")  # noqa: T201
    if satisfiable:
        print("v", *model, 0)  # noqa: T201
    return 10 if satisfiable else 20


MODULES: dict[str, Callable[[str, bool], int]] = {
    each.__name__: each for each in (bitwuzla, cvc5, pyboolector, pycryptosat)
}


def talk() -> int:
    """Answer commands of standard input by cvc5, until it ends or something is refused."""
    import cvc5

    from pickbest.portfolio.run.answers.commands import Splitter, head_of
    from pickbest.portfolio.solve.script import error

    solver, symbols = _cvc5(True, False)
    splitter = Splitter()
    while data := os.read(0, 1 << 16):
        for command in splitter.feed(data):
            if head_of(command) == "exit":
                return 0
            # What was declared is in the symbols; a parser that came to its end is of no more use.
            parser = cvc5.InputParser(solver, symbols)
            text = command.decode(errors="surrogateescape")
            parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "session")
            try:
                said = str(parser.nextCommand().invoke(solver, symbols)) or "success\n"
            except Exception as problem:  # the solver is of no use from then on
                sys.stdout.write(error(str(problem)).decode() + "\n")
                sys.stdout.flush()
                return 1
            sys.stdout.write(said)
            sys.stdout.flush()
    return 0


def main(words: list[str]) -> int:
    module, _, solver = words[0].partition(":")
    if "--session" in words:
        return talk()
    code = (
        pysat(words[-1], solver)
        if module == "pysat"
        else MODULES[module](words[-1], "--incremental" in words)
    )
    sys.stdout.flush()
    return code


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
