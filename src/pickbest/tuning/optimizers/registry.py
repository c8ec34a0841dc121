"""Names of optimizers: the paper's nine, current ones, and a user's own as module:Class."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from pickbest.core import (
    MissingExtraError,
    PickbestError,
    check_count,
    check_seed,
    unknown_name,
)
from pickbest.tuning.optimizers.protocol import Factory, Optimizer
from pickbest.tuning.space import Space


@dataclass(frozen=True)
class OptimizerEntry:
    """A named optimizer.

    label: the paper's label for its nine, else a short label of the same kind.
    module: the adapter in this package, whose FACTORIES holds the name.
    packages: what it needs from the extra `tuning`, as named on PyPI.
    """

    name: str
    label: str
    module: str
    packages: tuple[str, ...]
    paper: bool
    says: str


_OPENTUNER = ("opentuner",)
_PYSOT = ("pySOT", "POAP")
_SKOPT = ("scikit-optimize", "scikit-learn")
_OPTUNA = ("optuna",)

_ENTRIES = (
    OptimizerEntry(
        "hyperopt", "HyperOpt", "hyperopt", ("hyperopt",), True, "tree of Parzen estimators"
    ),
    OptimizerEntry(
        "opentuner-bandit",
        "OpenTuner-BanditA",
        "opentuner",
        _OPENTUNER,
        True,
        "a bandit over evolution and simplex (AUCBanditMetaTechniqueA)",
    ),
    OptimizerEntry(
        "opentuner-ga",
        "OpenTuner-GA",
        "opentuner",
        _OPENTUNER,
        True,
        "a bandit over swarms and genetic search (PSO_GA_Bandit)",
    ),
    OptimizerEntry(
        "opentuner-ga-de",
        "OpenTuner-GA-DE",
        "opentuner",
        _OPENTUNER,
        True,
        "a bandit over swarms, genetic search and differential evolution (PSO_GA_DE)",
    ),
    OptimizerEntry("pysot", "PySOT", "pysot", _PYSOT, True, "stochastic radial basis functions"),
    OptimizerEntry("random", "RandomSearch", "random", (), True, "uniform random search"),
    OptimizerEntry(
        "skopt-gbrt-hedge",
        "Scikit-GBRT-Hedge",
        "skopt",
        _SKOPT,
        True,
        "boosted trees, acquisition by gp_hedge",
    ),
    OptimizerEntry(
        "skopt-gp-hedge",
        "Scikit-GP-Hedge",
        "skopt",
        _SKOPT,
        True,
        "a Gaussian process, acquisition by gp_hedge",
    ),
    OptimizerEntry(
        "skopt-gp-lcb",
        "Scikit-GP-LCB",
        "skopt",
        _SKOPT,
        True,
        "a Gaussian process, lower confidence bound",
    ),
    OptimizerEntry(
        "optuna-tpe", "Optuna-TPE", "optuna", _OPTUNA, False, "tree of Parzen estimators"
    ),
    OptimizerEntry(
        "optuna-cmaes",
        "Optuna-CMAES",
        "optuna",
        (*_OPTUNA, "cmaes"),
        False,
        "covariance matrix adaptation",
    ),
    OptimizerEntry(
        "optuna-qmc", "Optuna-QMC", "optuna", (*_OPTUNA, "scipy"), False, "a Sobol sequence"
    ),
    OptimizerEntry(
        "nevergrad-ngopt",
        "Nevergrad-NGOpt",
        "nevergrad",
        ("nevergrad",),
        False,
        "an optimizer chosen by the space and the number of calls",
    ),
    OptimizerEntry(
        "nevergrad-portfolio",
        "Nevergrad-Portfolio",
        "nevergrad",
        ("nevergrad",),
        False,
        "several optimizers in turn",
    ),
    OptimizerEntry(
        "cmaes", "CMAES", "cmaes", ("cmaes",), False, "covariance matrix adaptation, unit cube"
    ),
    OptimizerEntry(
        "smac",
        "SMAC",
        "smac",
        ("smac", "ConfigSpace"),
        False,
        "a random forest, acquisition by expected improvement",
    ),
)

OPTIMIZERS: dict[str, OptimizerEntry] = {entry.name: entry for entry in _ENTRIES}


def make_optimizer(name: str, space: Space, seed: int, calls: int) -> Optimizer:
    """The optimizer of that name, or a user's own as "package.module:ClassName"."""
    check_seed(seed)
    check_count("calls", calls)
    if ":" in name:
        return _own(name, space, seed, calls)
    if name not in OPTIMIZERS:
        raise unknown_name("optimizer", name, OPTIMIZERS)
    entry = OPTIMIZERS[name]
    factories = import_module(f"pickbest.tuning.optimizers.{entry.module}").FACTORIES
    factory: Factory = factories[name]
    try:
        return factory(space, seed, calls)
    except ModuleNotFoundError as error:
        packages = " and ".join(entry.packages)
        raise MissingExtraError(packages, "tuning", f"the optimizer {name}") from error


def _own(reference: str, space: Space, seed: int, calls: int) -> Optimizer:
    module, _, name = reference.partition(":")
    if not module or not name:
        raise PickbestError(
            f"an optimizer of your own must be written as module:ClassName, got {reference!r}"
        )
    try:
        factory = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise PickbestError(f"the optimizer {reference!r} cannot be imported: {error}") from error
    if not callable(factory):
        raise PickbestError(f"{reference!r} must be a class, got {factory!r}")
    try:
        optimizer = factory(space, seed, calls)
    except TypeError as error:
        raise PickbestError(
            f"{reference!r} must be constructed as ClassName(space, seed, calls): {error}"
        ) from error
    if not isinstance(optimizer, Optimizer):
        raise PickbestError(
            f"{reference!r} must have the methods ask() and tell(point, loss), got {optimizer!r}"
        )
    return optimizer
