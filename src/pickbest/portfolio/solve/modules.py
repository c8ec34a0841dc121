"""Solvers that are only Python modules, each as a program.

    python -m pickbest.portfolio.solve.modules MODULE [--incremental] FILE
    python -m pickbest.portfolio.solve.modules MODULE --session

It writes what a solver's own program would write.
"""

import os
import sys
from collections.abc import Callable
from typing import Any


def bitwuzla(path: str, incremental: bool) -> int:
    _bitwuzla_parser().parse(path)
    return 0


def _bitwuzla_parser() -> Any:
    import bitwuzla

    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    return bitwuzla.Parser(bitwuzla.TermManager(), options)


def cvc5(path: str, incremental: bool) -> int:
    with open(path, "rb") as file:
        strings = b"String" in file.read()
    solver, symbols, parser = _cvc5(incremental, strings)
    import cvc5

    parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, path)
    while not (command := parser.nextCommand()).isNull():
        sys.stdout.write(str(command.invoke(solver, symbols)))
        sys.stdout.flush()
    return 0


def _cvc5(incremental: bool, strings: bool) -> tuple[Any, Any, Any]:
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("produce-models", "true")
    # It is on where nobody says otherwise, and makes single questions much slower.
    solver.setOption("incremental", "true" if incremental else "false")
    if strings:
        solver.setOption("strings-exp", "true")
    symbols = cvc5.SymbolManager(solver.getTermManager())
    return solver, symbols, cvc5.InputParser(solver, symbols)


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


def told(satisfiable: bool | None, model: list[int]) -> int:
    """What SAT solvers print, and their exit code."""
    if satisfiable is None:
        print("s UNKNOWN")  # noqa: T201
        return 0
    print("s SATISFIABLE" if satisfiable else "s UNSATISFIABLE")  # noqa: T201
    if satisfiable:
        print("v", *model, 0)  # noqa: T201
    return 10 if satisfiable else 20


MODULES: dict[str, Callable[[str, bool], int]] = {
    each.__name__: each for each in (bitwuzla, cvc5, pyboolector, pycryptosat)
}


def talk(module: str) -> int:
    """Answer commands of standard input, one by one, until it ends or something is refused."""
    from pickbest.portfolio.run.answers.commands import Splitter, head_of
    from pickbest.portfolio.solve.script import error

    splitter, invoke = Splitter(), _bitwuzla_session() if module == "bitwuzla" else _cvc5_session()
    while data := os.read(0, 1 << 16):
        for command in splitter.feed(data):
            if head_of(command) == "exit":
                return 0
            try:
                said = invoke(command.decode(errors="surrogateescape"), head_of(command))
            except Exception as problem:  # the parser is of no use from then on
                sys.stdout.buffer.write(error(str(problem)) + b"\n")
                sys.stdout.flush()
                return 1
            sys.stdout.write(said)
            sys.stdout.flush()
    return 0


def _bitwuzla_session() -> Callable[[str, str], str]:
    parser = _bitwuzla_parser()

    def invoke(command: str, head: str) -> str:
        if ":print-success" not in command:  # which it would do in its own time
            parser.parse(command, False, False)
        return "" if head.startswith(("check-sat", "get-", "echo")) else "success\n"

    return invoke


def _cvc5_session() -> Callable[[str, str], str]:
    import cvc5

    solver, symbols, _ = _cvc5(True, False)

    def invoke(text: str, head: str) -> str:
        # What was declared is in the symbols; a parser that came to its end is of no more use.
        parser = cvc5.InputParser(solver, symbols)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "session")
        said = str(parser.nextCommand().invoke(solver, symbols))
        return said or "success\n"

    return invoke


def main(words: list[str]) -> int:
    module, _, solver = words[0].partition(":")
    if "--session" in words:
        return talk(module)
    code = (
        pysat(words[-1], solver)
        if module == "pysat"
        else MODULES[module](words[-1], "--incremental" in words)
    )
    sys.stdout.flush()
    return code


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
