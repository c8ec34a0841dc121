"""scikit-optimize: Gaussian processes and boosted trees with default settings."""

from __future__ import annotations

from functools import partial
from typing import Any

from pickbest.tuning.optimizers.encoding import decoded, plain_integer
from pickbest.tuning.optimizers.protocol import Factory
from pickbest.tuning.optimizers.sandbox import Sandbox, small_seed
from pickbest.tuning.space import Categorical, Parameter, Point, Space


class SkOpt:
    """The first ten points are random, as the library has it."""

    def __init__(
        self, estimator: str, acquisition: str, space: Space, seed: int, calls: int
    ) -> None:
        self._space = space
        self._sandbox = Sandbox(seed)
        self._told: tuple[list[Any], float] | None = None
        with self._sandbox.entered():
            import skopt

            state = small_seed(seed)
            self._optimizer = skopt.Optimizer(
                [_dimension(skopt.space, p) for p in space.parameters],
                base_estimator=_boosted_trees(state) if estimator == "GBRT" else estimator,
                acq_func=acquisition,
                random_state=state,
            )

    def ask(self) -> Point:
        with self._sandbox.entered():
            # The library fits its model as soon as it is told: waiting spares the last fit.
            if self._told is not None:
                self._optimizer.tell(*self._told)
            self._asked = self._optimizer.ask()
        return decoded(self._space, self._asked)

    def tell(self, point: Point, loss: float) -> None:
        self._told = (self._asked, loss)


def _dimension(spaces: Any, parameter: Parameter) -> Any:
    if isinstance(parameter, Categorical):
        return spaces.Categorical(parameter.choices)
    if plain_integer(parameter):
        return spaces.Integer(parameter.low, parameter.high, transform="normalize")
    return spaces.Real(0.0, 1.0, transform="normalize")


def _boosted_trees(seed: int) -> Any:
    """The library's GBRT, made fit for current scikit-learn and NumPy."""
    from sklearn.ensemble import GradientBoostingRegressor
    from skopt.learning import GradientBoostingQuantileRegressor

    class Quantiles(GradientBoostingQuantileRegressor):  # type: ignore[misc]
        def __sklearn_tags__(self) -> Any:
            tags = super().__sklearn_tags__()
            tags.estimator_type = "regressor"
            return tags

        def predict(self, points: Any, return_std: bool = False) -> Any:
            low, median, high = (model.predict(points) for model in self.regressors_)
            return (median, (high - low) / 2.0) if return_std else median

    trees = GradientBoostingRegressor(n_estimators=30, loss="quantile")
    return Quantiles(base_estimator=trees, random_state=seed)


FACTORIES: dict[str, Factory] = {
    "skopt-gbrt-hedge": partial(SkOpt, "GBRT", "gp_hedge"),
    "skopt-gp-hedge": partial(SkOpt, "GP", "gp_hedge"),
    "skopt-gp-lcb": partial(SkOpt, "GP", "LCB"),
}
