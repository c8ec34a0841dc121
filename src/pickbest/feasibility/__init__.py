"""Linear programs and zero-sum games through regret minimisation (section 5, Proposition 8)."""

from pickbest.feasibility.laws import AnyLaw, Law, ProductLaw
from pickbest.feasibility.models import Model, read_model
from pickbest.feasibility.oracles import Answer, Oracle
from pickbest.feasibility.sets import Box, ConvexSet, Polytope, Simplex
from pickbest.feasibility.solve import (
    Certificate,
    Feasibility,
    Game,
    Status,
    solve_feasibility,
    solve_game,
)

__all__ = [
    "Answer", "AnyLaw", "Box", "Certificate", "ConvexSet", "Feasibility", "Game", "Law", "Model",
    "Oracle", "Polytope", "ProductLaw", "Simplex", "Status", "read_model", "solve_feasibility",
    "solve_game",
]  # fmt: skip
