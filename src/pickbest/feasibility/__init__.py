"""Linear programs and zero-sum games through regret minimisation (section 5, Proposition 8)."""

from pickbest.feasibility.games import Game, solve_game
from pickbest.feasibility.laws import AnyLaw, Law, ProductLaw
from pickbest.feasibility.models import Model, read_model
from pickbest.feasibility.oracles import Answer, Oracle
from pickbest.feasibility.phases import sampling_error
from pickbest.feasibility.polytopes import Polytope
from pickbest.feasibility.sets import Ball, Box, ConvexSet, Maximizer, Simplex
from pickbest.feasibility.solve import Certificate, Feasibility, Status, solve_feasibility

__all__ = [
    "Answer", "AnyLaw", "Ball", "Box", "Certificate", "ConvexSet", "Feasibility", "Game",
    "Law", "Maximizer", "Model", "Oracle", "Polytope", "ProductLaw", "Simplex", "Status",
    "read_model", "sampling_error", "solve_feasibility", "solve_game",
]  # fmt: skip
