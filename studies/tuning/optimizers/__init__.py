"""Black-box optimizers as arms: one protocol, one file a library."""

from studies.tuning.optimizers.adapter import Factory, Optimizer, OptimizerEntry
from studies.tuning.optimizers.registry import OPTIMIZERS, make_optimizer

__all__ = ["OPTIMIZERS", "Factory", "Optimizer", "OptimizerEntry", "make_optimizer"]
