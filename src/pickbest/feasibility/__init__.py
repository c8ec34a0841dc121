"""Linear programs and zero-sum games through regret minimisation (section 5, Proposition 8)."""

from pickbest.feasibility.games import Game, solve_game
from pickbest.feasibility.laws import AnyLaw, Law, sampling_error
from pickbest.feasibility.oracles import Answer, Oracle
from pickbest.feasibility.polytopes import Polytope
from pickbest.feasibility.problems import Problem, read_problem
from pickbest.feasibility.product_law import ProductLaw
from pickbest.feasibility.sets import Ball, Box, ConvexSet, Maximizer, Simplex
from pickbest.feasibility.solve import Certificate, Feasibility, Status, solve_feasibility

__all__ = [
    "Answer", "AnyLaw", "Ball", "Box", "Certificate", "ConvexSet", "Feasibility", "Game",
    "Law", "Maximizer", "Oracle", "Polytope", "Problem", "ProductLaw", "Simplex", "Status",
    "read_problem", "sampling_error", "solve_feasibility", "solve_game",
]  # fmt: skip
