"""What every experiment is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pickbest.core import Environment, FloatArray, Learner
from pickbest.experiments.paper.estimates import Estimate
from pickbest.experiments.paper.recorded_rewards import Rewards
from pickbest.report.document import Block
from pickbest.simulation.result import Simulation
from pickbest.simulation.simulate import simulate


@dataclass(frozen=True, eq=False)
class Setting:
    """What a run of the report fixes for all parts."""

    seed: int
    replicates: int
    rewards: Rewards

    def play(self, learners: Mapping[str, Learner], environment: Environment) -> Simulation:
        """Play the learners in this setting's number of games."""
        return simulate(learners, environment, self.replicates, self.seed, progress=False)


@dataclass(frozen=True)
class Found:
    """The result of an experiment. findings: sentences for "What we found"."""

    blocks: Sequence[Block]
    findings: Sequence[str] = ()


Experiment = Callable[..., Found]


def reward_of(simulation: Simulation, name: str) -> Estimate:
    """A learner's mean reward in a round, over replicates."""
    return Estimate.of(1.0 - simulation.costs(name).mean(axis=1))


def regret_of(simulation: Simulation, name: str, against: str = "best_arm") -> Estimate:
    """A learner's regret over all rounds, over replicates."""
    return Estimate.of(simulation.regret(name, against))


def hindsight_reward(simulation: Simulation, against: str, budget: int) -> Estimate:
    """The mean reward of a fixed subset that was chosen in hindsight."""
    name = next(iter(simulation.learners))
    costs: FloatArray = simulation.hindsight_costs(name, against, budget)
    return Estimate.of(1.0 - costs / simulation.environment.rounds)
