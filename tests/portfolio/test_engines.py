"""Every engine passes the conformance suite of engines."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import pytest

from pickbest.core import PickbestError
from pickbest.portfolio.engines import Engine, make_engine
from pickbest.portfolio.processes.limits import UNLIMITED, Ceiling
from pickbest.portfolio.runs import Run, RunStatus, Task
from pickbest.testing import engines as suite

CHECKS = [name for name in vars(suite) if name.startswith("check_") and name != "check_engine"]


@pytest.mark.parametrize("check", CHECKS)
def test_an_engine_passes(engine: Engine, check: str) -> None:
    getattr(suite, check)(engine)


class Dreaming:
    """An engine that runs nothing."""

    def race(
        self,
        tasks: Sequence[Task],
        ends_race: Callable[[Run], bool],
        given_up: Callable[[], bool],
        ceiling: Ceiling = UNLIMITED,
    ) -> list[Run]:
        runs = [Run(task.arm, RunStatus.FINISHED, exit_code=0) for task in tasks]
        for run in runs:
            ends_race(run)
        return runs

    def close(self) -> None:
        pass


@pytest.mark.parametrize("check", CHECKS)
def test_the_suite_notices_an_engine_that_runs_nothing(check: str) -> None:
    with pytest.raises(AssertionError):
        getattr(suite, check)(Dreaming())


def test_the_suite_runs_every_check() -> None:
    code = suite.check_engine.__code__.co_names
    assert set(CHECKS) <= set(code)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_a_cluster_that_cannot_be_reached_is_an_error_at_once(address: str) -> None:
    pytest.importorskip("ray", reason="Ray is not installed (extra: ray)")
    import ray

    if ray.is_initialized():
        pytest.skip("this process is connected to a cluster already")
    started = time.monotonic()
    with pytest.raises(PickbestError, match=f"no Ray cluster can be reached at {address}"):
        make_engine("ray", {"address": address})
    assert time.monotonic() - started < 20.0
