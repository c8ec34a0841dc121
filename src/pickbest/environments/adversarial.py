"""The proofs' constructions, i.i.d. Bernoulli costs, and adversaries that react to the player."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pickbest.core.arrays import FloatArray, IntArray
from pickbest.core.checks import check_budget, check_count
from pickbest.core.errors import PickbestError
from pickbest.core.randomness import Draws
from pickbest.core.types import Choice, Learner, State, visible
from pickbest.environments.tables import Oblivious

# What a success of `Together` costs at most.
QUICK = 0.01


@dataclass(frozen=True)
class Predicting:
    """Proposition 1: arms that the given learner picks now cost 1, all others 0.

    It runs the learner itself, on the same costs, so a deterministic learner is foreseen
    exactly and pays 1 in every round. Against a randomized one the prediction is only a
    guess, drawn from the learner's own law.
    """

    learner: Learner
    rounds: int
    adaptive = True
    varies = True

    def __post_init__(self) -> None:
        check_count("rounds", self.rounds)

    @property
    def n_arms(self) -> int:
        return self.learner.n_arms

    def start(self, replicates: int) -> State:
        return self.learner.start(replicates)

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        costs = np.zeros((len(rng.keys), self.n_arms))
        np.put_along_axis(costs, self.learner.pick(state, rng).arms, 1.0, axis=1)
        return costs

    def react(self, state: State, arms: IntArray, costs: FloatArray) -> State:
        choice = Choice(arms, np.ones(arms.shape))
        return self.learner.learn(state, choice, visible(self.learner, choice, costs))


@dataclass(frozen=True)
class OneGoodArm(Oblivious):
    """One arm, unknown and different in each replicate, always costs 0; the others cost 1."""

    n_arms: int
    rounds: int
    varies = True

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        good = (rng.lasting_uniforms(1) * self.n_arms).astype(np.int64)
        costs = np.ones((len(rng.keys), self.n_arms))
        np.put_along_axis(costs, good, 0.0, axis=1)
        return costs


@dataclass(frozen=True)
class Together(Oblivious):
    """All arms succeed or fail together by a fair coin; one arm, unknown, fails a little less.

    A success costs next to nothing (a random share of QUICK, so that any arm may be the first), a
    failure 1. Where the others fail, the good arm succeeds with probability 2 · gap.

    The environment separates learners that see winners only from those that see all their arms.
    To winners alone, a set with the good arm succeeds with probability 1/2 + gap, others with 1/2:
    telling these apart takes about 1/gap² rounds with each set, so some arm is hardly tried in the
    first N / (B gap²) rounds, and in the world in which that arm is the good one regret is of order
    gap · T: for gap = √(N / (B T)), of order √(N T / B). A learner that sees both arms of a pair
    sees them differ in no round but those in which the good arm alone succeeds: once is enough, at
    a regret of order N / B whatever the gap is (docs/two-picks.md).
    """

    n_arms: int
    rounds: int
    gap: float = 0.05
    varies = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.gap <= 0.5:
            raise PickbestError(f"gap must be above 0 and at most 1/2, got {self.gap!r}")

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        good = (rng.lasting_uniforms(1) * self.n_arms).astype(np.int64)
        coins, quick = rng.uniforms(2), QUICK * rng.child(1).uniforms(self.n_arms)
        succeeds = np.repeat(coins[:, :1] < 0.5, self.n_arms, axis=1)
        alone = succeeds[:, :1] | (coins[:, 1:] < 2.0 * self.gap)
        np.put_along_axis(succeeds, good, alone, axis=1)
        return np.where(succeeds, quick, 1.0)


@dataclass(frozen=True)
class Halving(Oblivious):
    """Proposition 10: in each round a random half of the arms that still cost 0 go on doing so.

    The number of arms is a power of 2. After log2(n_arms) rounds one arm is left.
    """

    n_arms: int
    rounds: int
    varies = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_arms", self.n_arms, least=2)
        if self.n_arms & (self.n_arms - 1):
            raise PickbestError(f"n_arms must be a power of 2, got {self.n_arms}")

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        # A random order of the arms, fixed for the run: its first 2^(k - t) survive round t.
        rank = np.argsort(np.argsort(rng.lasting_uniforms(self.n_arms), axis=1), axis=1)
        alive = max(self.n_arms >> (round_index + 1), 1)
        return (rank >= alive).astype(np.float64)


@dataclass(frozen=True)
class Bernoulli(Oblivious):
    """Independent costs 0 or 1: `probability` is P(cost = 1), one number or one per arm."""

    n_arms: int
    rounds: int
    probability: float | tuple[float, ...] = 0.5
    varies = True

    def __post_init__(self) -> None:
        super().__post_init__()
        chances = np.atleast_1d(np.asarray(self.probability, dtype=np.float64))
        if chances.shape not in {(1,), (self.n_arms,)}:
            raise PickbestError(
                f"probability must be one number or n_arms={self.n_arms} of them, "
                f"got {chances.size}"
            )
        if not np.all((chances >= 0.0) & (chances <= 1.0)):
            raise PickbestError(f"probability must be between 0 and 1, got {self.probability}")

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        return (rng.uniforms(self.n_arms) < np.asarray(self.probability)).astype(np.float64)


class ChasingState(NamedTuple):
    """favour: (replicates, n_arms), discounted number of times that an arm was picked."""

    favour: FloatArray


@dataclass(frozen=True)
class Chasing:
    """An adaptive adversary: the arms that the player favoured lately cost 1, the others 0.

    Past picks count with weight memory^age; the `width` arms with the largest counts cost 1.
    Ties are broken at random, so it hurts from the first round on.
    """

    n_arms: int
    rounds: int
    width: int
    memory: float = 0.9
    adaptive = True
    varies = True

    def __post_init__(self) -> None:
        check_count("rounds", self.rounds)
        check_budget(self.width, self.n_arms)
        if not 0.0 <= self.memory < 1.0:
            raise PickbestError(f"memory must be at least 0 and below 1, got {self.memory!r}")

    def start(self, replicates: int) -> ChasingState:
        return ChasingState(np.zeros((replicates, self.n_arms)))

    def costs(self, state: ChasingState, round_index: int, rng: Draws) -> FloatArray:
        score = state.favour + 1e-9 * rng.uniforms(self.n_arms)
        chased = np.argsort(-score, axis=1)[:, : self.width]
        costs = np.zeros(score.shape)
        np.put_along_axis(costs, chased, 1.0, axis=1)
        return costs

    def react(self, state: ChasingState, arms: IntArray, costs: FloatArray) -> ChasingState:
        favour = state.favour * self.memory
        rows = np.arange(len(arms))[:, None]
        np.add.at(favour, (rows, arms), 1.0)
        return ChasingState(favour)


@dataclass(frozen=True)
class Alternating(Oblivious):
    """Two arms take turns being good, out of phase so that the leader is always wrong.

    The sequence that makes following the leader pay in every round: costs (½, 0), (0, 1),
    (1, 0), (0, 1), … for two arms; the other arms always cost 1.
    """

    n_arms: int
    rounds: int
    varies = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_arms", self.n_arms, least=2)

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        costs = np.ones((len(rng.keys), self.n_arms))
        odd = round_index % 2 == 1
        costs[:, 0] = 0.5 if round_index == 0 else float(not odd)
        costs[:, 1] = float(odd)
        return costs
