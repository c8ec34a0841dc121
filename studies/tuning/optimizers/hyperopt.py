"""Hyperopt: tree of Parzen estimators with default settings."""

import numpy as np

from studies.tuning.optimizers.adapter import Sandbox, decoded, dimensions, entries
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
                choice=lambda p: hp.choice(p.name, p.choices),
                integer=lambda p: hp.quniform(p.name, p.low, p.high, 1),
                unit=lambda p: hp.uniform(p.name, 0.0, 1.0),
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


OPTIMIZERS = entries(
    HyperOpt, ("hyperopt", "HyperOpt", "hyperopt", "tree of Parzen estimators"), paper=True
)
