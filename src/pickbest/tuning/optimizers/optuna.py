"""Optuna: Parzen estimators, CMA-ES and quasi-Monte Carlo."""

from __future__ import annotations

from functools import partial
from typing import Any

from pickbest.tuning.optimizers.encoding import decoded, plain_integer
from pickbest.tuning.optimizers.protocol import Factory
from pickbest.tuning.optimizers.sandbox import Sandbox, small_seed
from pickbest.tuning.space import Categorical, Parameter, Point, Space


class Optuna:
    """A study in memory with one of the samplers."""

    def __init__(
        self, sampler: str, options: dict[str, Any], space: Space, seed: int, calls: int
    ) -> None:
        self._space = space
        self._sandbox = Sandbox(seed)
        with self._sandbox.entered():
            import optuna

            kind = getattr(optuna.samplers, sampler)
            self._study = optuna.create_study(sampler=kind(seed=small_seed(seed), **options))
            kinds = optuna.distributions
            self._dimensions = {p.name: _dimension(kinds, p) for p in space.parameters}

    def ask(self) -> Point:
        with self._sandbox.entered():
            self._trial = self._study.ask(self._dimensions)
        values = self._trial.params
        return decoded(self._space, (values[name] for name in self._space.names))

    def tell(self, point: Point, loss: float) -> None:
        with self._sandbox.entered():
            self._study.tell(self._trial, loss)


def _dimension(kinds: Any, parameter: Parameter) -> Any:
    if isinstance(parameter, Categorical):
        return kinds.CategoricalDistribution(parameter.choices)
    if plain_integer(parameter):
        return kinds.IntDistribution(parameter.low, parameter.high)
    return kinds.FloatDistribution(0.0, 1.0)


FACTORIES: dict[str, Factory] = {
    "optuna-tpe": partial(Optuna, "TPESampler", {}),
    "optuna-cmaes": partial(Optuna, "CmaEsSampler", {}),
    # Without scrambling the sequence would be the same for every seed.
    "optuna-qmc": partial(Optuna, "QMCSampler", {"scramble": True}),
}
