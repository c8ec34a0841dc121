"""Optimizers that are younger than the paper: Optuna, Nevergrad, cmaes, SMAC."""

import math
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from pickbest.core import FloatArray
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
                integer=lambda p: kinds.IntDistribution(p.low, p.high),
                unit=lambda _: kinds.FloatDistribution(0.0, 1.0),
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


class Nevergrad:
    """The library chooses by the space and by the number of calls that are planned."""

    def __init__(self, optimizer: str, space: Space, seed: int, calls: int) -> None:
        self._space = space
        self._sandbox = Sandbox(seed)
        self._told: tuple[Any, float] | None = None
        with self._sandbox.entered():
            import nevergrad
            from nevergrad.optimization import recaster

            # A thread that waits for one more loss must not keep the process from ending.
            recaster._MessagingThread.daemon = True
            kinds = nevergrad.p
            parts = dimensions(
                space,
                integer=lambda p: kinds.Scalar(lower=p.low, upper=p.high).set_integer_casting(),
                unit=lambda _: kinds.Scalar(lower=0.0, upper=1.0),
            )
            box = kinds.Tuple(*parts)
            box.random_state = np.random.RandomState(small_seed(seed))
            # A random start: from the middle, the automatic choice is the same for every seed.
            start = box.sample()
            self._optimizer = nevergrad.optimizers.registry[optimizer](start, budget=calls)

    def ask(self) -> Point:
        with self._sandbox.entered():
            # Some optimizers work on in a thread once they are told: it must stay inside.
            if self._told is not None:
                self._optimizer.tell(*self._told)
            self._candidate = self._optimizer.ask()
        return decoded(self._space, self._candidate.value)

    def tell(self, point: Point, loss: float) -> None:
        self._told = (self._candidate, loss)


class CmaEs:
    """Starts in the middle of the cube with a step of a quarter of its side."""

    def __init__(self, space: Space, seed: int, calls: int) -> None:
        self._space = space
        self._sandbox = Sandbox(seed)
        self._generation: list[tuple[FloatArray, float]] = []
        dim = len(space.parameters)
        with self._sandbox.entered():
            from cmaes import CMA

            bounds = np.tile([0.0, 1.0], (dim, 1))
            self._cma = CMA(np.full(dim, 0.5), 0.25, bounds, seed=small_seed(seed))

    def ask(self) -> Point:
        with self._sandbox.entered():
            self._asked: FloatArray = self._cma.ask()
        return self._space.from_unit(self._asked)

    def tell(self, point: Point, loss: float) -> None:
        self._generation.append((self._asked, loss))
        if len(self._generation) == self._cma.population_size:
            with self._sandbox.entered():
                self._cma.tell(self._generation)
            self._generation = []


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
                integer=lambda p: kinds.UniformIntegerHyperparameter(p.name, p.low, p.high),
                unit=lambda name: kinds.UniformFloatHyperparameter(name, 0.0, 1.0),
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

    To stay above 0 it adds 1e-10, which is lost next to a loss of a million.
    """
    from smac.runhistory.encoder import RunHistoryLogScaledEncoder

    encoder: Any = RunHistoryLogScaledEncoder(scenario)
    logarithm, least = encoder.transform_response_values, math.log(sys.float_info.epsilon)
    encoder.transform_response_values = lambda values: np.maximum(logarithm(values), least)
    return encoder


OPTIMIZERS = [
    *entries(
        Optuna,
        ("optuna-tpe", "Optuna-TPE", "optuna", "TPESampler", {}),
        ("optuna-cmaes", "Optuna-CMAES", "optuna cmaes", "CmaEsSampler", {}),
        # Without scrambling the Sobol sequence would be the same for every seed.
        ("optuna-qmc", "Optuna-QMC", "optuna scipy", "QMCSampler", {"scramble": True}),
    ),
    *entries(Nevergrad, ("nevergrad-ngopt", "Nevergrad-NGOpt", "nevergrad", "NGOpt")),
    *entries(CmaEs, ("cmaes", "CMAES", "cmaes")),
    *entries(Smac, ("smac", "SMAC", "smac ConfigSpace")),
]
