"""`pickbest solve --list`: which solvers are here, and how each is called."""

from pickbest.portfolio.solve.known import located, places, solver_table
from pickbest.portfolio.solve.words import Arguments


def listed(call: Arguments) -> str:
    """One line per solver of the table."""
    path = places()
    found = ((solver, located(solver, path)) for solver in solver_table(call.tables))
    return "".join(
        f"{solver.format:7} {solver.name:14} {' '.join(here.argv) if here else '-'}\n"
        for solver, here in found
    )
