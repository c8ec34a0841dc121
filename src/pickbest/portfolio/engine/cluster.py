"""Arms as tasks on a Ray cluster (extra: ray).

On the node where a task lands, the local engine of its worker process runs the arm: limits,
deadline and the end of every process are the same as on one machine. Cancelling a task makes
the local engine stop its arm; if the worker is killed instead, the arm's guard notices. Tasks
whose node dies are run again by Ray (`max_retries`).

A race starts when its tasks are scheduled. On a full cluster they may start at different
times, and the deadline counts for each arm from its own start.
"""

import os
import pickle
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from pickbest.core import PickbestError
from pickbest.core.errors import load_extra
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.processes import temporary_folder
from pickbest.portfolio.runs import EndsRace, GivenUp, Run, RunStatus, Task

PATIENCE = 0.2
# A cluster that takes no connection in this time counts as unreachable.
CONNECT_SECONDS = 10.0
# How long workers have to end their arms where a race fails.
END_SECONDS = 10.0
MAX_RETRIES = 3


class RayEngine:
    """Races on a cluster: the one that is connected, the one at `address`, or a local one.

    options: what ray.init takes (num_cpus, runtime_env, …) where this connects.
    """

    def __init__(self, address: str | None = None, **options: Any) -> None:
        self._ray = ray = load_extra("ray", "ray", "engine='ray'")
        self._own = not ray.is_initialized()
        if self._own:
            check_reachable(address)
            own = {"include_dashboard": False} if address is None else {}
            quiet = {"log_to_driver": False, "logging_level": "error", **own}
            ray.init(address=address, **{**quiet, **options})
        self._run = self._ray.remote(max_retries=MAX_RETRIES)(run_here)

    def race(self, tasks: Sequence[Task], ends_race: EndsRace, given_up: GivenUp) -> list[Run]:
        ray = self._ray
        started = time.monotonic()
        places = {
            self._run.options(num_cpus=task.cores, name=task.arm).remote(
                self._portable(task), sys.path
            ): place
            for place, task in enumerate(tasks)
        }
        runs: dict[int, Run] = {}
        waiting, stopped = list(places), False

        def stop() -> None:
            """The local engines stop their arms, and report what became of them."""
            for reference in waiting:
                ray.cancel(reference)

        try:
            while waiting:
                done, waiting = ray.wait(waiting, timeout=PATIENCE)
                for reference in done:
                    place = places[reference]
                    seconds = time.monotonic() - started
                    runs[place] = self._result(tasks[place], reference, seconds, stopped)
                    if ends_race(runs[place]) and not stopped:
                        stopped = True
                        stop()
                if waiting and not stopped and given_up():
                    stopped = True
                    stop()
        except BaseException:
            stop()
            if waiting:
                ray.wait(waiting, num_returns=len(waiting), timeout=END_SECONDS)
            raise
        return [runs[place] for place in range(len(tasks))]

    def close(self) -> None:
        if self._own and self._ray.is_initialized():
            self._ray.shutdown()

    def _portable(self, task: Task) -> Task:
        """Functions of the driver's own program go by value: no other node could import them."""
        if task.call is None:
            return task
        return replace(task, call=self._ray.cloudpickle.dumps(pickle.loads(task.call)))

    def _result(self, task: Task, reference: Any, seconds: float, stopped: bool) -> Run:
        try:
            run, output = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            if stopped or isinstance(error, self._ray.exceptions.TaskCancelledError):
                return Run(task.arm, RunStatus.STOPPED, seconds=seconds)
            reason = f"the cluster lost it: {type(error).__name__}"
            status = RunStatus.FINISHED
            return Run(task.arm, status, seconds=seconds, reason=reason, exit_code=1)
        if not run.spool:
            return cast(Run, run)
        Path(task.spool).write_bytes(output)
        return replace(cast(Run, run), spool=task.spool)


_engine: LocalEngine | None = None


def run_here(task: Task, paths: Sequence[str]) -> tuple[Run, bytes]:
    """Run an arm in the worker process that Ray chose: its run, and a long output.

    paths: where the driver finds modules.
    """
    global _engine
    if _engine is None:
        sys.path += [path for path in paths if path not in sys.path and os.path.isdir(path)]
        # Ray's own program need not be imported where functions run.
        _engine = LocalEngine(imports_program=False)
    with temporary_folder() as folder:
        here = replace(task, spool=os.path.join(folder, "output") if task.spool else "")
        (run,) = _engine.race([here], lambda run: False, lambda: False)
        return run, Path(run.spool).read_bytes() if run.spool else b""


def check_reachable(address: str | None) -> None:
    """Ray itself would try for minutes, and then end the process."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except OSError as error:
        raise PickbestError(f"no Ray cluster can be reached at {address}: {error}") from error
