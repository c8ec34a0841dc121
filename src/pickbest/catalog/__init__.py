"""The only place where a text becomes a learner or an environment, and back."""

from pickbest.catalog.builtin import register_built_in
from pickbest.catalog.describe import describe, rebuild
from pickbest.catalog.environments import (
    EnvironmentEntry,
    EnvironmentSpec,
    environment_entry,
    environment_names,
    make_environment,
    register_environment,
    unregister_environment,
)
from pickbest.catalog.learners import (
    LearnerEntry,
    LearnerSpec,
    applicable,
    feedback_of,
    learner_entry,
    learner_names,
    make_learner,
    register_learner,
    unregister_learner,
)
from pickbest.catalog.spec import SYNTAX, Spec

register_built_in()

__all__ = [
    "SYNTAX",
    "EnvironmentEntry",
    "EnvironmentSpec",
    "LearnerEntry",
    "LearnerSpec",
    "Spec",
    "applicable",
    "describe",
    "environment_entry",
    "environment_names",
    "feedback_of",
    "learner_entry",
    "learner_names",
    "make_environment",
    "make_learner",
    "rebuild",
    "register_environment",
    "register_learner",
    "unregister_environment",
    "unregister_learner",
]
