"""The game and its words. Needs NumPy only; everything else builds on it."""

from pickbest.core.arrays import BoolArray, FloatArray, IntArray, KeyArray
from pickbest.core.checks import (
    check_budget,
    check_costs,
    check_count,
    check_positive,
    check_seed,
    check_share,
)
from pickbest.core.errors import (
    MissingExtraError,
    PickbestError,
    UnknownRoundsError,
    unknown_name,
)
from pickbest.core.randomness import (
    ENVIRONMENT_STREAM,
    GOLDEN,
    LEARNER_STREAM,
    MIX_1,
    MIX_2,
    Draws,
    mix,
    mix_array,
    replicate_keys,
    rng_for,
)
from pickbest.core.rounds import keep_best, learns_any, play_rounds, play_table, visible
from pickbest.core.tickets import Ticket
from pickbest.core.types import (
    Choice,
    CompiledLearner,
    ContextLearner,
    Environment,
    Feedback,
    Learner,
    OpenLearner,
    State,
    TableLearner,
)

__all__ = [
    "ENVIRONMENT_STREAM",
    "GOLDEN",
    "LEARNER_STREAM",
    "MIX_1",
    "MIX_2",
    "BoolArray",
    "Choice",
    "CompiledLearner",
    "ContextLearner",
    "Draws",
    "Environment",
    "Feedback",
    "FloatArray",
    "IntArray",
    "KeyArray",
    "Learner",
    "MissingExtraError",
    "OpenLearner",
    "PickbestError",
    "State",
    "TableLearner",
    "Ticket",
    "UnknownRoundsError",
    "check_budget",
    "check_costs",
    "check_count",
    "check_positive",
    "check_seed",
    "check_share",
    "keep_best",
    "learns_any",
    "mix",
    "mix_array",
    "play_rounds",
    "play_table",
    "replicate_keys",
    "rng_for",
    "unknown_name",
    "visible",
]
