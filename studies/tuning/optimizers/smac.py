"""SMAC: a random forest and expected improvement, with the defaults for hyperparameters."""

import math
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from studies.tuning.optimizers.adapter import Sandbox, decoded, dimensions, entries, small_seed
from studies.tuning.space import Point, Space


class Smac:
    """The facade that SMAC recommends for hyperparameters (HyperparameterOptimizationFacade).

    The Gaussian process of its BlackBoxFacade is better on smooth functions, but 20 calls in
    nine dimensions take it half a minute instead of a few seconds, and scikit-optimize has one.
    """

    def __init__(self, space: Space, seed: int, calls: int) -> None:
        self._space = space
        self._sandbox = Sandbox(seed)
        self._trial: Any = None
        with self._sandbox.entered(), TemporaryDirectory() as folder:
            from ConfigSpace import ConfigurationSpace, hyperparameters as kinds
            from smac import HyperparameterOptimizationFacade, Scenario
            from smac.model.random_forest.random_forest import RandomForest

            self._box = ConfigurationSpace()
            parts = dimensions(
                space,
                choice=lambda p: kinds.CategoricalHyperparameter(p.name, p.choices),
                integer=lambda p: kinds.UniformIntegerHyperparameter(p.name, p.low, p.high),
                unit=lambda p: kinds.UniformFloatHyperparameter(p.name, 0.0, 1.0),
            )
            self._box.add(parts)
            scenario = Scenario(
                self._box,
                output_directory=Path(folder),
                deterministic=True,
                n_trials=calls,
                seed=small_seed(seed),
            )
            # The facade's forest, but on one thread, and without room for a million leaves in
            # every tree, which takes more time than all else.
            forest = RandomForest(
                self._box,
                log_y=True,
                n_trees=10,
                ratio_features=1.0,
                min_samples_split=2,
                min_samples_leaf=1,
                max_leaf_nodes=max(calls, 2),
                n_jobs=1,
                seed=scenario.seed,
            )
            maximizer = HyperparameterOptimizationFacade.get_acquisition_maximizer(scenario)
            _keep_order(maximizer)
            # It writes its files once here, and later only if it is told to save.
            self._facade = HyperparameterOptimizationFacade(
                scenario,
                model=forest,
                acquisition_maximizer=maximizer,
                runhistory_encoder=_finite_logarithms(scenario),
                logging_level=False,
            )

    def ask(self) -> Point:
        from smac.main.exceptions import ConfigurationSpaceExhaustedException

        with self._sandbox.entered():
            try:
                self._trial = self._facade.ask()
                values = self._trial.config
            except (ConfigurationSpaceExhaustedException, StopIteration):
                # SMAC never repeats a point and ends when it finds no other.
                self._trial = None
                values = self._box.sample_configuration()
        return decoded(self._space, (values[name] for name in self._space.names))

    def tell(self, point: Point, loss: float) -> None:
        from smac.runhistory import TrialValue

        if self._trial is not None:
            with self._sandbox.entered():
                self._facade.tell(self._trial, TrialValue(cost=loss), save=False)


def _keep_order(maximizer: Any) -> None:
    """Begin the local searches in the order of their points.

    SMAC takes them from a set, whose order is another one in every process.
    """
    local = maximizer._local_search
    search = local._search
    local._search = lambda points: search(sorted(points, key=lambda p: p.get_array().tolist()))


def _finite_logarithms(scenario: Any) -> Any:
    """The facade's encoder, but never -inf: the logarithm of a loss, scaled to (0, 1].

    To stay above 0 it adds 1e-10, which is lost beside a loss of a million.
    """
    from smac.runhistory.encoder import RunHistoryLogScaledEncoder

    encoder: Any = RunHistoryLogScaledEncoder(scenario)
    logarithm, least = encoder.transform_response_values, math.log(sys.float_info.epsilon)
    encoder.transform_response_values = lambda values: np.maximum(logarithm(values), least)
    return encoder


OPTIMIZERS = entries(
    Smac,
    ("smac", "SMAC", "smac ConfigSpace", "a random forest, acquisition by expected improvement"),
)
