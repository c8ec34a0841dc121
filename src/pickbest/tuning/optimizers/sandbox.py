"""Running a library with a random state of its own, silently and on one thread."""

from __future__ import annotations

import logging
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

# Many libraries draw from the generators of `random` and `numpy.random`. Each optimizer gets
# its own state of both, swapped in while the library runs: neither another optimizer nor the
# objective can disturb it, and it disturbs nobody.


def small_seed(seed: int) -> int:
    """A 32-bit seed for libraries that take no larger one."""
    return int(np.random.SeedSequence(seed).generate_state(1)[0])


class Sandbox:
    """The generators' states of one optimizer."""

    def __init__(self, seed: int) -> None:
        self._python = random.Random(seed).getstate()
        self._numpy = np.random.RandomState(small_seed(seed)).get_state()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Within it the global generators are this optimizer's, and nothing is logged.

        Linear algebra uses one thread: its sums, and so the points, depend on their number.
        """
        from threadpoolctl import threadpool_limits

        outside = _swap(self._python, self._numpy)
        level = logging.root.manager.disable
        logging.disable()
        try:
            with warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")
                yield
        finally:
            logging.disable(level)
            self._python, self._numpy = _swap(*outside)


def _swap(python: Any, numpy: Any) -> tuple[Any, Any]:
    """Set the states of both global generators and return those that they had."""
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.setstate(python)
    np.random.set_state(numpy)  # noqa: NPY002
    return before
