"""Black-box optimizers as arms: one interface, one adapter a library."""

from pickbest.tuning.optimizers.protocol import Factory, Optimizer
from pickbest.tuning.optimizers.registry import OPTIMIZERS, OptimizerEntry, make_optimizer

__all__ = ["OPTIMIZERS", "Factory", "Optimizer", "OptimizerEntry", "make_optimizer"]
