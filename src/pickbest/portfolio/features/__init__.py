"""Features of problems, computed before arms are picked: built-in ones, or a function's."""

from pickbest.portfolio.features.dimacs import dimacs
from pickbest.portfolio.features.feature_function import FeatureFunction, Timed, as_feature_function
from pickbest.portfolio.features.smtlib import smtlib

__all__ = ["FeatureFunction", "Timed", "as_feature_function", "dimacs", "smtlib"]
