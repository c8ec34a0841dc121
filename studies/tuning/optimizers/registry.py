"""Names of optimizers: the paper's nine, current ones, and a user's own as module:Class."""

from pickbest.catalog.spec import imported
from pickbest.core import MissingExtraError, PickbestError, check_count, check_seed, unknown_name
from studies.tuning.optimizers import later, paper_nine
from studies.tuning.optimizers.adapter import Optimizer, OptimizerEntry
from studies.tuning.space import Space

OPTIMIZERS: dict[str, OptimizerEntry] = {
    entry.name: entry for entry in (*paper_nine.OPTIMIZERS, *later.OPTIMIZERS)
}
"""In the order of the tables: the paper's nine first."""


def make_optimizer(name: str, space: Space, seed: int, calls: int) -> Optimizer:
    """The optimizer of that name, or a user's own as "package.module:ClassName"."""
    check_seed(seed)
    check_count("calls", calls)
    if ":" in name:
        return _own(name, space, seed, calls)
    if name not in OPTIMIZERS:
        raise unknown_name("optimizer", name, OPTIMIZERS)
    entry = OPTIMIZERS[name]
    try:
        return entry.factory(space, seed, calls)
    except ModuleNotFoundError as error:
        packages = " and ".join(entry.packages)
        raise MissingExtraError(packages, "tuning", f"the optimizer {name}") from error


def _own(reference: str, space: Space, seed: int, calls: int) -> Optimizer:
    factory = imported(reference, "optimizer")
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
