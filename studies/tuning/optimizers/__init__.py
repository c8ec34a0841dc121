"""Black-box optimizers as arms: one protocol, one file a library."""

from pickbest.tuning.optimizers.adapter import Factory, Optimizer, OptimizerEntry
from pickbest.tuning.optimizers.registry import OPTIMIZERS, make_optimizer

__all__ = ["OPTIMIZERS", "Factory", "Optimizer", "OptimizerEntry", "make_optimizer"]
