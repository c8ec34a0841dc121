"""The engine that plays units as tasks on a Ray cluster."""

from collections.abc import Iterator
from typing import Any

from pickbest.core import PickbestError
from pickbest.core.workers import start_ray
from studies.tuning.measurement.engines import PINNED, Event
from studies.tuning.measurement.units import Message, Request, play


class RayEngine:
    """Each unit in a fresh process with the pinned environment; messages come as they are made.

    The data must be readable under the same path on every machine of the cluster.
    """

    def __init__(self, workers: int) -> None:
        self._ray, self._own = start_ray("--engine ray")
        self._workers = workers
        # One call a process: several optimizers keep global random state.
        self._play = self._ray.remote(
            num_cpus=1,
            max_calls=1,
            max_retries=0,
            num_returns="streaming",
            runtime_env={"env_vars": PINNED},
        )(play)
        self._playing: dict[Any, str] = {}

    @property
    def free(self) -> int:
        return self._workers - len(self._playing)

    def submit(self, request: Request) -> None:
        self._playing[self._play.remote(request)] = request.unit.name

    def wait(self, seconds: float) -> Iterator[Event]:
        ready, _ = self._ray.wait(list(self._playing), timeout=seconds, fetch_local=False)
        for stream in ready:
            unit = self._playing[stream]
            try:
                message: Message = self._ray.get(next(stream))
            except StopIteration:
                message = {"finished": True}
            except self._ray.exceptions.RayTaskError as error:
                raise PickbestError(f"{unit}: {error.cause}") from error
            except self._ray.exceptions.RayError as error:
                message = {"died": f"process died ({type(error).__name__})"}
            if "finished" in message or "died" in message:
                del self._playing[stream]
            yield unit, message

    def close(self) -> None:
        """End what is played, and the cluster if it was started here."""
        for stream in self._playing:
            self._ray.cancel(stream, force=True)
        if self._own:
            self._ray.shutdown()
