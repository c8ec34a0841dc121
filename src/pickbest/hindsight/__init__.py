"""The best choice in hindsight: what one fixed set of arms would have paid on a cost table.

A set of arms pays, in each round, the smallest of its costs. The best set of `budget` arms is
a p-median problem; `best_subset` solves it exactly, the others are cheap comparators.
"""

from pickbest.hindsight.comparators import Subset, best_arm, greedy_subset, subset_cost, top_arms
from pickbest.hindsight.subset_search import best_subset

__all__ = ["Subset", "best_arm", "best_subset", "greedy_subset", "subset_cost", "top_arms"]
