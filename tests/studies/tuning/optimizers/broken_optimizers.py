"""Optimizers that each break one promise of the protocol; and one that breaks none."""

import random
import sys
from pathlib import Path

import numpy as np


class Climber:
    """Tries a neighbour of the best point so far."""

    def __init__(self, space, seed, calls):
        self.space, self.rng = space, np.random.default_rng(seed)
        self.best, self.loss = None, np.inf

    def ask(self):
        if self.best is None:
            return self.space.sample(self.rng)
        near = self.space.to_unit(self.best) + self.rng.normal(0, 0.1, len(self.space.names))
        return self.space.from_unit(near)

    def tell(self, point, loss):
        if loss < self.loss:
            self.best, self.loss = point, loss


class Outside(Climber):
    def ask(self):
        return super().ask() | {"bit": 2}


class NumPyNumbers(Climber):
    def ask(self):
        return super().ask() | {"bit": np.int64(1)}


class Tired(Climber):
    """Ends where it has tried all points of a small space."""

    def __init__(self, space, seed, calls):
        super().__init__(space, seed, calls)
        self.left = 4 if len(space.names) == 2 else calls

    def ask(self):
        self.left -= 1
        if self.left < 0:
            raise StopIteration("no point is left")
        return super().ask()


class Unseeded(Climber):
    def __init__(self, space, seed, calls):
        super().__init__(space, None, calls)


class Shared(Climber):
    """All that exist at once draw from one generator."""

    def __init__(self, space, seed, calls):
        super().__init__(space, seed, calls)
        Shared.rng, self.rng = self.rng, None
        del self.rng


class Seedless(Climber):
    def __init__(self, space, seed, calls):
        super().__init__(space, 0, calls)


class Identity(Climber):
    """Knows its points by the objects that they were."""

    def ask(self):
        self.asked = super().ask()
        return self.asked

    def tell(self, point, loss):
        super().tell(point, loss if point is self.asked else np.inf)


class Pedantic(Climber):
    """Divides by the spread of the losses."""

    def __init__(self, space, seed, calls):
        super().__init__(space, seed, calls)
        self.losses = []

    def tell(self, point, loss):
        self.losses.append(loss)
        if len(self.losses) > 5 and max(self.losses) == min(self.losses):
            raise ZeroDivisionError
        super().tell(point, loss)


class GlobalDraws(Climber):
    def ask(self):
        self.rng = np.random.default_rng(random.getrandbits(32))
        return super().ask()


class GlobalSeed(Climber):
    def __init__(self, space, seed, calls):
        super().__init__(space, seed, calls)
        np.random.seed(seed)  # noqa: NPY002


class HashOrder(Climber):
    def __init__(self, space, seed, calls):
        super().__init__(space, seed + hash("seed") % 1000, calls)


class Chatty(Climber):
    def tell(self, point, loss):
        sys.stderr.write("a better point\n")


class Printing(Climber):
    def tell(self, point, loss):
        sys.stdout.write("a better point\n")


class Littering(Climber):
    def tell(self, point, loss):
        Path("log.txt").touch()


class Blind(Climber):
    """Learns nothing."""

    def tell(self, point, loss):
        pass
