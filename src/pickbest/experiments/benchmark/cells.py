"""A cell, one learner in one environment at one budget: what it found, and how that is kept."""

from dataclasses import dataclass

from pickbest.catalog import describe
from pickbest.core import Environment, Learner
from pickbest.experiments.cache import code_digest, key_of, modules_of

# Raise it when what a cell holds changes its meaning.
FORMAT = 1
Numbers = tuple[float, ...]
# What every cell runs, beside its own learner and environment.
LOOP = "pickbest.simulation.simulate"


@dataclass(frozen=True)
class Result:
    """Mean rewards of a round, one a replicate; a single one where all replicates agree.

    rewards: the learner's. best_arm: the best single arm's in hindsight.
    random: B distinct random arms', in expectation. best: the best B arms' in hindsight.
    Both are empty where costs depend on the player: each learner meets others.
    seconds: of a core that the learner's games took.
    """

    rewards: Numbers
    best_arm: Numbers
    random: Numbers
    best: Numbers
    seconds: float


def cell_key(environment: Environment, learner: Learner, replicates: int, seed: int) -> str:
    """What a kept result is valid for: costs, learner and their code, replicates and seed."""
    return key_of(
        {
            "format": FORMAT,
            "environment": describe(environment),
            "learner": describe(learner),
            "code": code_digest({LOOP} | modules_of(environment) | modules_of(learner)),
            "replicates": replicates,
            "seed": seed,
        }
    )
