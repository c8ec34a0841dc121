"""Optuna: Parzen estimators, CMA-ES and quasi-Monte Carlo."""

from typing import Any

from studies.tuning.optimizers.adapter import Sandbox, decoded, dimensions, entries, small_seed
from studies.tuning.space import Point, Space


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
            parts = dimensions(
                space,
                choice=lambda p: kinds.CategoricalDistribution(p.choices),
                integer=lambda p: kinds.IntDistribution(p.low, p.high),
                unit=lambda p: kinds.FloatDistribution(0.0, 1.0),
            )
            self._dimensions = dict(zip(space.names, parts, strict=True))

    def ask(self) -> Point:
        with self._sandbox.entered():
            self._trial = self._study.ask(self._dimensions)
        values = self._trial.params
        return decoded(self._space, (values[name] for name in self._space.names))

    def tell(self, point: Point, loss: float) -> None:
        with self._sandbox.entered():
            self._study.tell(self._trial, loss)


# Without scrambling the Sobol sequence would be the same for every seed.
OPTIMIZERS = entries(
    Optuna,
    ("optuna-tpe", "Optuna-TPE", "optuna", "tree of Parzen estimators", "TPESampler", {}),
    ("optuna-cmaes", "Optuna-CMAES", "optuna cmaes", "covariance matrix adaptation",
     "CmaEsSampler", {}),
    ("optuna-qmc", "Optuna-QMC", "optuna scipy", "a Sobol sequence",
     "QMCSampler", {"scramble": True}),
)  # fmt: skip
