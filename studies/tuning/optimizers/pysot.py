"""pySOT: stochastic radial basis functions, set up as in Bayesmark."""

import sys
from importlib.util import find_spec
from types import ModuleType

import numpy as np

from studies.tuning.optimizers.adapter import Sandbox, entries
from studies.tuning.space import Point, Space


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


OPTIMIZERS = entries(
    PySOT, ("pysot", "PySOT", "pySOT POAP", "stochastic radial basis functions"), paper=True
)
