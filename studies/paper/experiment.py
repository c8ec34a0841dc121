"""What every experiment is given, and what it gives back."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pickbest.catalog import make_learner
from pickbest.core import Environment, FloatArray, Learner
from pickbest.report.document import Block, Figure, Series
from pickbest.simulation.result import Simulation
from pickbest.simulation.simulate import simulate
from studies.paper.estimates import Estimate
from studies.paper.recorded_rewards import Rewards
from studies.report.sections import shade

Item = TypeVar("Item")


def unchanged(thing: Any) -> Any:
    return thing


@dataclass(frozen=True)
class Sabotage:
    """What is broken on purpose, to see verdicts fail (`sabotage` has the list).

    learner, environment: what becomes of every learner and environment. epsilon: a factor of the
    epsilon of perturbations that a part draws itself, or whose law it computes. exact_estimates:
    estimates of costs that a part draws itself are the costs.
    """

    name: str
    learner: Callable[[Any], Any] = unchanged
    environment: Callable[[Any], Any] = unchanged
    epsilon: float = 1.0
    exact_estimates: bool = False


HONEST = Sabotage("nothing")


@dataclass(frozen=True, eq=False)
class Setting:
    """What a run of the report fixes for all parts."""

    seed: int
    replicates: int
    rewards: Rewards
    sabotage: Sabotage = HONEST

    def play(self, learners: Mapping[str, Learner], environment: Environment) -> Simulation:
        """Play the learners in this setting's number of games."""
        played = {name: self.sabotage.learner(learner) for name, learner in learners.items()}
        game = self.sabotage.environment(environment)
        return simulate(played, game, self.replicates, self.seed, progress=False)

    def play_specs(self, environment: Environment, budget: int, *specs: str) -> Simulation:
        """Play learners by their specs, told the number of rounds."""
        size = (environment.n_arms, budget, environment.rounds)
        return self.play({spec: make_learner(spec, *size) for spec in specs}, environment)

    def regret(self, environment: Environment, budget: int, spec: str) -> Estimate:
        """Of one learner, against the best arm."""
        return regret_of(self.play_specs(environment, budget, spec), spec)


@dataclass(frozen=True)
class Found:
    """The result of an experiment. findings: sentences for "What we found"."""

    blocks: Sequence[Block]
    findings: Sequence[str] = ()


Experiment = Callable[..., Found]


def reward_of(simulation: Simulation, name: str) -> Estimate:
    """A learner's mean reward in a round, over replicates."""
    return Estimate.of(1.0 - simulation.costs(name).mean(axis=1))


def mean_rewards(simulation: Simulation) -> list[float]:
    """Of every learner, in their order."""
    return [reward_of(simulation, name).mean for name in simulation.learners]


def regret_of(simulation: Simulation, name: str, against: str = "best_arm") -> Estimate:
    """A learner's regret over all rounds, over replicates."""
    return Estimate.of(simulation.regret(name, against))


def hindsight_reward(simulation: Simulation, against: str, budget: int) -> Estimate:
    """The mean reward of a fixed subset that was chosen in hindsight."""
    name = next(iter(simulation.learners))
    costs: FloatArray = simulation.hindsight_costs(name, against, budget)
    return Estimate.of(1.0 - costs / simulation.environment.rounds)


def shaded(items: Collection[Item]) -> Iterator[tuple[str, Item]]:
    """Each with the look of its lines in a figure."""
    for place, item in enumerate(items, start=1):
        yield shade(place, len(items)), item


def plot(
    name: str, caption: str, x_label: str, y_label: str, series: Sequence[Series], log: str = ""
) -> Figure:
    """A figure that says in words where its lines begin and end. log: the axes that are so."""
    lines = [line for line in series if line.label]
    ends = "; ".join(f"{line.label} from {line.y[0]:.3g} to {line.y[-1]:.3g}" for line in lines)
    alt = f"{y_label[0].upper()}{y_label[1:]} against {x_label}: {ends}."
    return Figure(name, caption, alt, x_label, y_label, series, "x" in log, "y" in log)


def against_rounds(
    name: str, caption: str, series: Sequence[Series], y_label: str = "regret"
) -> Figure:
    """A log-log figure of what grows with the number of rounds."""
    return plot(name, caption, "rounds T", y_label, series, "xy")
