"""The only place where a string becomes a learner or an environment."""

from pickbest.catalog import builtin as _builtin  # noqa: F401 - registers the built-in learners
from pickbest.catalog.describe import describe, rebuild
from pickbest.catalog.environments import ENVIRONMENTS, environment_names, make_environment
from pickbest.catalog.registry import (
    LearnerEntry,
    applicable,
    feedback_of,
    learner_entry,
    learner_names,
    make_learner,
    register_learner,
    unregister_learner,
)

__all__ = [
    "ENVIRONMENTS",
    "LearnerEntry",
    "applicable",
    "describe",
    "environment_names",
    "feedback_of",
    "learner_entry",
    "learner_names",
    "make_environment",
    "make_learner",
    "rebuild",
    "register_learner",
    "unregister_learner",
]
