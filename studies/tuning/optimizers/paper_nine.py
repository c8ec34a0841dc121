"""The nine optimizers of the paper: Hyperopt, OpenTuner, pySOT, random search, scikit-optimize."""

import logging
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from studies.tuning.optimizers.adapter import Sandbox, decoded, dimensions, entries, small_seed
from studies.tuning.space import Point, Space


class HyperOpt:
    """The first twenty points are random (n_startup_jobs), as the library has it."""

    def __init__(self, space: Space, seed: int, calls: int) -> None:
        self._space = space
        self._rng = np.random.default_rng(seed)
        self._sandbox = Sandbox(seed)
        with self._sandbox.entered():
            from hyperopt import JOB_STATE_DONE, STATUS_OK, Domain, Trials, hp, space_eval, tpe

            self._suggest, self._eval = tpe.suggest, space_eval
            self._done, self._ok = JOB_STATE_DONE, STATUS_OK
            self._trials = Trials()
            self._dimensions = dimensions(
                space,
                integer=lambda p: hp.quniform(p.name, p.low, p.high, 1),
                unit=lambda name: hp.uniform(name, 0.0, 1.0),
            )
            self._domain = Domain(lambda point: 0.0, self._dimensions)

    def ask(self) -> Point:
        with self._sandbox.entered():
            seed = int(self._rng.integers(2**31 - 1))
            ids = self._trials.new_trial_ids(1)
            (self._trial,) = self._suggest(ids, self._domain, self._trials, seed)
            drawn = {name: vals[0] for name, vals in self._trial["misc"]["vals"].items()}
            values = self._eval(self._dimensions, drawn)
        return decoded(self._space, values)

    def tell(self, point: Point, loss: float) -> None:
        self._trial["result"] = {"loss": loss, "status": self._ok}
        self._trial["state"] = self._done
        self._trials.insert_trial_docs([self._trial])
        self._trials.refresh()


ARGUMENTS = ("--no-dups", "--quiet", "--database=sqlite://", "--parallelism=1")
GENERATIONS = 100  # without a new point, after which a random one is tried


class OpenTuner:
    """One point a generation; the results stay in memory."""

    def __init__(self, technique: str, space: Space, seed: int, calls: int) -> None:
        self._space = space
        self._rng = np.random.default_rng(seed)
        self._sandbox = Sandbox(seed)
        formatter = logging.Formatter
        with self._sandbox.entered():
            import opentuner
            from opentuner import api, tuningrunmain
            from opentuner.measurement.interface import DefaultMeasurementInterface
            from opentuner.search import manipulator

            # The library replaces logging's formatter and would write a log file.
            logging.Formatter = formatter  # type: ignore[misc]
            tuningrunmain.init_logging = lambda: None
            self._result = opentuner.resultsdb.models.Result
            box = manipulator.ConfigurationManipulator()
            for dimension in dimensions(
                space,
                integer=lambda p: manipulator.IntegerParameter(p.name, p.low, p.high),
                unit=lambda name: manipulator.FloatParameter(name, 0.0, 1.0),
            ):
                box.add_parameter(dimension)
            args = opentuner.default_argparser().parse_args(
                [f"--technique={technique}", *ARGUMENTS]
            )
            interface = DefaultMeasurementInterface(args=args, manipulator=box)
            self._manager = api.TuningRunManager(interface, args)

    def ask(self) -> Point:
        with self._sandbox.entered():
            self._desired = self._next()
            if self._desired is None:
                return self._space.sample(self._rng)
            values = self._desired.configuration.data
        return decoded(self._space, (values[name] for name in self._space.names))

    def tell(self, point: Point, loss: float) -> None:
        if self._desired is not None:
            with self._sandbox.entered():
                self._manager.report_result(self._desired, self._result(time=loss))

    def _next(self) -> Any:
        """What the techniques want; None where they only repeat themselves."""
        for _ in range(GENERATIONS):
            desired = self._manager.get_next_desired_result()
            if desired is not None:
                return desired
        return None


class PySOT:
    """A cubic RBF over the unit cube after a symmetric Latin hypercube of 2 (d + 1) points."""

    def __init__(self, space: Space, seed: int, calls: int) -> None:
        self._space = space
        self._sandbox = Sandbox(seed)
        dim = len(space.parameters)
        # pyDOE2 imports this module, which Python 3.12 no longer has, and does not use it.
        if "imp" not in sys.modules and find_spec("imp") is None:
            sys.modules["imp"] = ModuleType("imp")
        with self._sandbox.entered():
            from poap.strategy import EvalRecord
            from pySOT.experimental_design import SymmetricLatinHypercube
            from pySOT.optimization_problems import OptimizationProblem
            from pySOT.strategy import SRBFStrategy
            from pySOT.surrogate import CubicKernel, LinearTail, RBFInterpolant

            self._record = EvalRecord
            problem = OptimizationProblem()
            problem.dim, problem.lb, problem.ub = dim, np.zeros(dim), np.ones(dim)
            problem.int_var, problem.cont_var = np.array([]), np.arange(dim)
            self._strategy = SRBFStrategy(
                max_evals=sys.maxsize,
                opt_prob=problem,
                exp_design=SymmetricLatinHypercube(dim=dim, num_pts=2 * (dim + 1)),
                surrogate=RBFInterpolant(
                    dim=dim,
                    lb=problem.lb,
                    ub=problem.ub,
                    kernel=CubicKernel(),
                    tail=LinearTail(dim),
                ),
                asynchronous=True,
                batch_size=1,
            )

    def ask(self) -> Point:
        with self._sandbox.entered():
            proposal = self._strategy.propose_action()
            proposal.record = self._pending = self._record(proposal.args, status="pending")
            proposal.accept()
        return self._space.from_unit(proposal.args[0])

    def tell(self, point: Point, loss: float) -> None:
        with self._sandbox.entered():
            self._pending.complete(loss)


class RandomSearch:
    """Independent points, uniform on the scales of the parameters."""

    def __init__(self, space: Space, seed: int, calls: int) -> None:
        self._space = space
        self._rng = np.random.default_rng(seed)

    def ask(self) -> Point:
        return self._space.sample(self._rng)

    def tell(self, point: Point, loss: float) -> None:
        """Random search learns nothing."""


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
                    integer=lambda p: kinds.Integer(p.low, p.high, transform="normalize"),
                    unit=lambda _: kinds.Real(0.0, 1.0, transform="normalize"),
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


_SKOPT = "scikit-optimize scikit-learn"
OPTIMIZERS = [
    entry
    for kind, *rows in (
        (HyperOpt, ("hyperopt", "HyperOpt", "hyperopt")),
        (
            OpenTuner,
            ("opentuner-bandit", "OpenTuner-BanditA", "opentuner", "AUCBanditMetaTechniqueA"),
            ("opentuner-ga", "OpenTuner-GA", "opentuner", "PSO_GA_Bandit"),
            ("opentuner-ga-de", "OpenTuner-GA-DE", "opentuner", "PSO_GA_DE"),
        ),
        (PySOT, ("pysot", "PySOT", "pySOT POAP")),
        (RandomSearch, ("random", "RandomSearch", "")),
        (
            SkOpt,
            ("skopt-gbrt-hedge", "Scikit-GBRT-Hedge", _SKOPT, "GBRT", "gp_hedge"),
            ("skopt-gp-hedge", "Scikit-GP-Hedge", _SKOPT, "GP", "gp_hedge"),
            ("skopt-gp-lcb", "Scikit-GP-LCB", _SKOPT, "GP", "LCB"),
        ),
    )
    for entry in entries(kind, *rows)
]
