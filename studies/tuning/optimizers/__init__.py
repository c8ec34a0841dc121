"""Black-box optimizers as arms: the paper's nine."""

from pickbest.core import MissingExtraError, check_count, check_seed, unknown_name
from studies.tuning.optimizers import paper_nine
from studies.tuning.optimizers.adapter import Optimizer, OptimizerEntry
from studies.tuning.space import Space

OPTIMIZERS: dict[str, OptimizerEntry] = {entry.name: entry for entry in paper_nine.OPTIMIZERS}
"""In the order of the tables."""


def make_optimizer(name: str, space: Space, seed: int, calls: int) -> Optimizer:
    """The optimizer of that name."""
    check_seed(seed)
    check_count("calls", calls)
    if name not in OPTIMIZERS:
        raise unknown_name("optimizer", name, OPTIMIZERS)
    entry = OPTIMIZERS[name]
    try:
        return entry.factory(space, seed, calls)
    except ModuleNotFoundError as error:
        packages = " and ".join(entry.packages)
        raise MissingExtraError(packages, "tuning", f"the optimizer {name}") from error
