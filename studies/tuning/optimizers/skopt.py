"""scikit-optimize: Gaussian processes and boosted trees with default settings."""

from typing import Any

from studies.tuning.optimizers.adapter import Sandbox, decoded, dimensions, entries, small_seed
from studies.tuning.space import Point, Space


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

            state, kinds = small_seed(seed), skopt.space
            self._optimizer = skopt.Optimizer(
                dimensions(
                    space,
                    choice=lambda p: kinds.Categorical(p.choices),
                    integer=lambda p: kinds.Integer(p.low, p.high, transform="normalize"),
                    unit=lambda p: kinds.Real(0.0, 1.0, transform="normalize"),
                ),
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


OPTIMIZERS = entries(
    SkOpt,
    ("skopt-gbrt-hedge", "Scikit-GBRT-Hedge", "scikit-optimize scikit-learn",
     "boosted trees, acquisition by gp_hedge", "GBRT", "gp_hedge"),
    ("skopt-gp-hedge", "Scikit-GP-Hedge", "scikit-optimize scikit-learn",
     "a Gaussian process, acquisition by gp_hedge", "GP", "gp_hedge"),
    ("skopt-gp-lcb", "Scikit-GP-LCB", "scikit-optimize scikit-learn",
     "a Gaussian process, lower confidence bound", "GP", "LCB"),
    paper=True,
)  # fmt: skip
