"""Optimizers that misbehave, for the tests of measuring: module:ClassName."""

import os
import signal

import numpy as np


class Honest:
    """Random points."""

    def __init__(self, space, seed, calls):
        self.space, self.rng, self.calls = space, np.random.default_rng(seed), 0

    def ask(self):
        self.calls += 1
        return self.space.sample(self.rng)

    def tell(self, point, loss):
        pass


class Tired(Honest):
    """Gives up at its third call."""

    def ask(self):
        if self.calls == 2:
            raise RuntimeError("no idea")
        return super().ask()


class Deadly(Honest):
    """Kills its process at its second call."""

    def ask(self):
        if self.calls == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().ask()
