"""Solvers that are only Python modules, each as a program: python modules.py MODULE FILE.

This file is run by its path in a process of its own, and so imports nothing of pickbest. It
writes what a solver's program would write.
"""

import sys


def bitwuzla(path: str) -> int:
    import bitwuzla

    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    bitwuzla.Parser(bitwuzla.TermManager(), options).parse(path)
    return 0


def cvc5(path: str) -> int:
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    with open(path, "rb") as file:
        strings = ["strings-exp"] if b"String" in file.read() else []
    for option in ("produce-models", "incremental", *strings):
        solver.setOption(option, "true")
    symbols = cvc5.SymbolManager(solver.getTermManager())
    parser = cvc5.InputParser(solver, symbols)
    parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, path)
    while not (command := parser.nextCommand()).isNull():
        sys.stdout.write(str(command.invoke(solver, symbols)))
        sys.stdout.flush()
    return 0


def pyboolector(path: str) -> int:
    from pyboolector import Boolector, BtorOption

    solver = Boolector()
    solver.Set_opt(BtorOption.BTOR_OPT_MODEL_GEN, 1)
    solver.Set_opt(BtorOption.BTOR_OPT_INCREMENTAL, 1)
    problem = solver.Parse(path)[2]
    if problem:
        raise SystemExit(str(problem))
    return 0


def pycryptosat(path: str) -> int:
    from pycryptosat import Solver

    solver = Solver()
    solver.add_clauses(clauses(path))
    satisfiable, values = solver.solve()
    return told(satisfiable, [v if value else -v for v, value in enumerate(values or ()) if v])


def pysat(path: str, name: str) -> int:
    from pysat.solvers import Solver

    with Solver(name=name, bootstrap_with=clauses(path)) as solver:
        return told(solver.solve(), solver.get_model() or [])


def clauses(path: str) -> list[list[int]]:
    """The clauses of a DIMACS file: a clause may span lines, and a lone % ends the file."""
    literals: list[int] = []
    with open(path) as file:
        for line in file:
            if line.startswith("%"):
                break
            if not line.startswith(("c", "p")):
                literals += map(int, line.split())
    found: list[list[int]] = [[]]
    for literal in literals:
        if literal:
            found[-1].append(literal)
        else:
            found.append([])
    return found if found[-1] else found[:-1]


def told(satisfiable: bool | None, model: list[int]) -> int:
    """What SAT solvers print, and their exit code."""
    if satisfiable is None:
        print("s UNKNOWN")  # noqa: T201
        return 0
    print("s SATISFIABLE" if satisfiable else "s UNSATISFIABLE")  # noqa: T201
    if satisfiable:
        print("v", *model, 0)  # noqa: T201
    return 10 if satisfiable else 20


MODULES = {each.__name__: each for each in (bitwuzla, cvc5, pyboolector, pycryptosat)}

if __name__ == "__main__":
    module, _, solver = sys.argv[1].partition(":")
    code = pysat(sys.argv[2], solver) if module == "pysat" else MODULES[module](sys.argv[2])
    sys.stdout.flush()
    raise SystemExit(code)
