"""Linear programs and zero-sum games through regret minimisation (section 5, Proposition 8)."""

from pickbest.feasibility.laws import (
    AnyLaw as AnyLaw,
    ProductLaw as ProductLaw,
    TupleLaw as TupleLaw,
)
from pickbest.feasibility.models import Model as Model, read_model as read_model
from pickbest.feasibility.oracles import Answer as Answer, Oracle as Oracle
from pickbest.feasibility.sets import (
    Box as Box,
    ConvexSet as ConvexSet,
    Polytope as Polytope,
    Simplex as Simplex,
)
from pickbest.feasibility.solve import (
    Certificate as Certificate,
    Feasibility as Feasibility,
    FeasibilityStatus as FeasibilityStatus,
    Game as Game,
    solve_feasibility as solve_feasibility,
    solve_game as solve_game,
)
