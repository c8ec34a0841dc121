"""Environments whose rounds have features that learners may see before they pick."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pickbest.core import Draws, Environment, FloatArray, PickbestError
from pickbest.core.features import Features, encoded, encoded_numbers, feature_names
from pickbest.core.wrapping import WrappingEnvironment
from pickbest.environments.tables import Shuffled


@dataclass(frozen=True, eq=False)
class WithFeatures(WrappingEnvironment):
    """An environment, and encoded features (rounds, n_features) of its rounds, by name."""

    inner: Environment
    features: FloatArray
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        shape = (self.rounds, len(self.names))
        if self.features.shape != shape:
            raise PickbestError(
                f"features must be given for each of {self.rounds} rounds: expected shape "
                f"{shape}, got {self.features.shape}"
            )

    def known(self, round_index: int, rng: Draws) -> FloatArray:
        """(replicates, n_features): the features of a round; rng as for costs."""
        if isinstance(self.inner, Shuffled):
            return self.features[self.inner.order(rng)[:, round_index]]
        return np.repeat(self.features[round_index][None], len(rng.keys), axis=0)


def with_features(environment: Environment, features: Iterable[Features]) -> WithFeatures:
    """The environment with features: one list or mapping a round, or an array of numbers.

    >>> from pickbest.environments import Table
    >>> table = Table([[0.1, 0.9], [0.3, 0.2]])
    >>> with_features(table, [{"size": 3, "kind": "x"}, {"size": None, "kind": "y"}]).names
    ('kind', 'size')
    """
    bare = environment.inner if isinstance(environment, WithFeatures) else environment
    if isinstance(features, np.ndarray) and features.ndim == 2 and features.dtype.kind in "fiub":
        names = tuple(str(place) for place in range(features.shape[1]))
        return WithFeatures(bare, encoded_numbers(features.astype(np.float64)), names)
    rows: Sequence[Features] = list(features)
    if not rows:
        raise PickbestError("features must be given for each round, got none")
    names = feature_names(rows[0])
    table = []
    for number, row in enumerate(rows):
        try:
            table.append(encoded(row, names))
        except PickbestError as error:
            raise PickbestError(f"round {number}: {error}") from error
    return WithFeatures(bare, np.array(table), names)
