"""The only place where a text becomes a learner or an environment, and back."""

from pickbest.catalog.builtin import register_built_in
from pickbest.catalog.describe import describe as describe, rebuild as rebuild
from pickbest.catalog.environments import (
    EnvironmentEntry as EnvironmentEntry,
    environment_entry as environment_entry,
    environment_names as environment_names,
    make_environment as make_environment,
    register_environment as register_environment,
)
from pickbest.catalog.learners import (
    LearnerEntry as LearnerEntry,
    feedback_of as feedback_of,
    learner_entry as learner_entry,
    learner_names as learner_names,
    make_learner as make_learner,
    register_learner as register_learner,
)
from pickbest.catalog.spec import Spec as Spec

register_built_in()
