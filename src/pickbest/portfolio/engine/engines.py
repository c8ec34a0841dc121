"""Engines run the arms of a round in parallel and stop them for real.

`local`: processes on this machine, the default. `cluster`: tasks on a Ray cluster.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from pickbest.core import PickbestError, unknown_name
from pickbest.portfolio.engine.limits import UNLIMITED, Ceiling
from pickbest.portfolio.runs import EndsRace, GivenUp, Run, Task

NAMES = ("local", "ray")


@runtime_checkable
class Engine(Protocol):
    """Runs races. Every method may be called from any thread; see pickbest.testing.engines."""

    def race(
        self,
        tasks: Sequence[Task],
        ends_race: EndsRace,
        given_up: GivenUp,
        ceiling: Ceiling = UNLIMITED,
    ) -> list[Run]:
        """Run all tasks at once; their runs, in the order of the tasks.

        ends_race is called once for each run, as it ends; when it returns True, the others are
        stopped. given_up is asked a few times a second; when it returns True, all are stopped.
        ceiling: what all arms may use together; the one that uses most is stopped, with a reason.
        When this returns, no process of any task is left, and that is within a second of the
        longest deadline and its grace.
        """
        ...

    def close(self) -> None: ...


def make_engine(name: str | Engine, options: Mapping[str, Any] | None = None) -> Engine:
    """An engine by name; `options` go to Ray (address, num_cpus, …)."""
    if not isinstance(name, str):
        return name
    if name == "local":
        if os.name != "posix":
            raise PickbestError("engine 'local' needs Linux (or, with less certainty, macOS)")
        from pickbest.portfolio.engine.local import LocalEngine

        return LocalEngine()
    if name == "ray":
        from pickbest.portfolio.engine.cluster import RayEngine

        return RayEngine(**(options or {}))
    raise unknown_name("engine", name, NAMES)
