"""Engines play the units of a measurement elsewhere, and send messages as they are made.

`local`: warm processes of this machine, each of them a `worker`. `cluster`: tasks on a Ray cluster.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from pickbest.core import unknown_name
from studies.tuning.measurement.units import Message, Request, Unit

NAMES = ("processes", "ray")

# The same bits on every x86-64 machine: one thread, and no instructions that some lack.
PINNED = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "PYTHONHASHSEED": "0",
}

Event = tuple[str, Message]
"""The name of a unit, and a message about it."""


class Engine(Protocol):
    """Plays units, each in a process of its own with the pinned environment."""

    @property
    def free(self) -> int:
        """How many units more can be played at once."""
        ...

    def submit(self, request: Request) -> None:
        """Begin to play a unit; only where one is free."""
        ...

    def wait(self, seconds: float) -> Iterator[Event]:
        """Messages that have come, after waiting at most that long for the first.

        Besides those of the unit itself: `finished` at its end, or `died` with the reason.
        """
        ...

    def close(self) -> None:
        """End all that is played."""
        ...


def make_engine(name: str, workers: int, optimizers: Sequence[str]) -> Engine:
    """An engine by name for that many units at once, and for these optimizers."""
    if name == "processes":
        from studies.tuning.measurement.engines.local import ProcessEngine

        return ProcessEngine(workers, optimizers)
    if name == "ray":
        from studies.tuning.measurement.engines.cluster import RayEngine

        return RayEngine(workers)
    raise unknown_name("engine", name, NAMES)


def play_units(engine: Engine, units: Iterable[Unit], seed: int) -> dict[Unit, list[float | None]]:
    """The losses of units of which nothing is known yet; None for a failed evaluation."""
    waiting, playing = deque(units), dict[str, Unit]()
    losses: dict[Unit, list[float | None]] = {unit: [] for unit in waiting}
    while waiting or playing:
        while waiting and engine.free:
            unit = waiting.popleft()
            playing[unit.name] = unit
            engine.submit(Request(unit, seed))
        for name, message in engine.wait(1.0):
            if "call" in message:
                losses[playing[name]].append(message["loss"])
            elif "finished" in message or "died" in message:
                del playing[name]
    return losses
