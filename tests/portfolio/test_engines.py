"""Every engine passes the conformance suite of engines."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Sequence

import pytest

from pickbest.core import PickbestError, workers
from pickbest.portfolio.engine.engines import Engine, make_engine
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.runs import Run, RunStatus, Task
from pickbest.testing import engines as suite

CHECKS = [name for name in vars(suite) if name.startswith("check_") and name != "check_engine"]


@pytest.mark.parametrize("check", CHECKS)
def test_an_engine_passes(engine: Engine, check: str) -> None:
    getattr(suite, check)(engine)


class Dreaming:
    """An engine that runs nothing."""

    def race(
        self, tasks: Sequence[Task], ends_race: Callable[[Run], bool], given_up: Callable[[], bool]
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


@pytest.fixture
def no_cluster() -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed (extra: ray)")
    if ray.is_initialized():
        pytest.skip("this process is connected to a cluster already")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
@pytest.mark.ray
@pytest.mark.usefixtures("no_cluster")
def test_a_cluster_that_cannot_be_reached_is_an_error_at_once(address: str) -> None:
    started = time.monotonic()
    with pytest.raises(PickbestError, match=f"no Ray cluster can be reached at {address}"):
        make_engine("ray", {"address": address})
    assert time.monotonic() - started < 20.0


@pytest.mark.parametrize(
    ("scheme", "said"), [("", b""), ("ray://", b"HTTP/1.1 400 Bad Request\r\n\r\n")]
)
@pytest.mark.ray
@pytest.mark.usefixtures("no_cluster")
def test_something_else_that_listens_is_no_cluster(
    said: bytes, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that says nothing, an ordinary web server."""
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"{scheme}127.0.0.1:{server.getsockname()[1]}"

        def serve() -> None:
            with contextlib.suppress(OSError), server.accept()[0] as connection:
                connection.sendall(said)
                while said and connection.recv(1000):
                    pass
                time.sleep(0.0 if said else 5.0)

        thread = threading.Thread(target=serve)
        thread.start()
        started = time.monotonic()
        with pytest.raises(PickbestError, match=r"something else listens there|timed out"):
            make_engine("ray", {"address": address})
        assert time.monotonic() - started < 10.0
        thread.join()


@pytest.mark.ray
def test_a_real_cluster_is_taken_for_one(engine: Engine) -> None:
    if isinstance(engine, LocalEngine):
        pytest.skip("the local engine has no cluster")
    import ray

    workers.check_reachable(ray.get_runtime_context().gcs_address)
