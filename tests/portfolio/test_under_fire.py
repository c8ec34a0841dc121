"""Ray, PostgreSQL and other machines under fire: what dies is lost, never doubled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pickbest.portfolio import AskTell, Portfolio
from tests.portfolio import postgres
from tests.portfolio.helpers import eventually, running


@pytest.mark.postgres
@pytest.mark.parametrize("how", ["restarted", "failed over"])
def test_a_run_outlives_a_server_that_is_replaced(how: str) -> None:
    """Rounds that run meanwhile are finished when the server is back."""
    try:
        server = postgres.Server()
    except postgres.NoServerError as error:
        pytest.skip(str(error))
    try:
        server.create()
        arms = {"x": ["sleep", "0.05"], "y": ["sleep", "0.02"]}
        with Portfolio(arms, 1, 20.0, server.url, learner="thompson") as portfolio:
            done = 0
            for result in portfolio.map([f"p{number}" for number in range(40)], concurrency=2):
                assert result.solved
                done += 1
                if done == 10 and how == "restarted":
                    server.stop()
                    server.start()
                elif done == 10:
                    server.fail_over()
            status = portfolio.status()
            assert (done, status.finished, status.open, status.lost) == (40, 40, 0, 0)
            portfolio.verify()
        server.stop()
    finally:
        server.remove()


FROZEN = """
import sys, time
from dataclasses import replace
from pickbest.core.tickets import ClosedRoundError
from pickbest.portfolio import AskTell, processes
from pickbest.portfolio.store import ledger
here = processes.this_process()
ledger.this_process = lambda: replace(here, place="another machine")
AskTell._own_seconds = 4.0
with AskTell.reopened(sys.argv[1]) as book:
    ticket = book.ask("p")
    print("asked", flush=True)
    sys.stdin.readline()
    try:
        book.tell(ticket, [0.25], "late")
        print("told", flush=True)
    except ClosedRoundError as error:
        print("refused", error, flush=True)
"""


@pytest.mark.slow
def test_a_machine_that_is_frozen_and_comes_back_tells_too_late(database: str) -> None:
    """Its ticket expires while it stands still; its result is refused."""
    AskTell(("a", "b"), 1, database, learner="thompson").close()
    frozen = subprocess.Popen(
        [sys.executable, "-c", FROZEN, database],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert frozen.stdin is not None
    assert frozen.stdout is not None
    try:
        assert frozen.stdout.readline() == "asked\n"
        with AskTell.reopened(database) as book:
            frozen.send_signal(signal.SIGSTOP)
            assert book.ledger.sweep() == []
            assert eventually(lambda: bool(book.ledger.sweep()), 30.0)
            frozen.send_signal(signal.SIGCONT)
            frozen.stdin.write("\n")
            frozen.stdin.flush()
            assert "closed as lost" in frozen.stdout.readline()
            status = book.status()
            assert (status.lost, status.finished, status.learned) == (1, 0, 0)
            book.verify()
    finally:
        frozen.kill()
        frozen.communicate()


CLUSTER = """
import os, sys
from pickbest.portfolio import Portfolio
arms = {"slow": ["sleep", "75.5"], "slower": ["sleep", "75.5"]}
options = {"num_cpus": 2}
with Portfolio(arms, 2, 70.0, sys.argv[1], learner="thompson", engine="ray",
               engine_options=options) as portfolio:
    print("started", flush=True)
    portfolio.solve("p")
"""


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.parametrize("killed", ["gcs_server", "raylet"])
def test_a_cluster_whose_head_dies_leaves_no_arm_and_a_sound_journal(
    tmp_path: Path, killed: str
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed (extra: ray)")
    store = tmp_path / "runs.db"
    driver = subprocess.Popen(
        [sys.executable, "-c", CLUSTER, str(store)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert driver.stdout is not None
        assert driver.stdout.readline() == "started\n"
        assert eventually(lambda: len(running("75.5")) == 2, 120.0)
        for pid in _below(driver.pid):
            if Path(f"/proc/{pid}/comm").read_text().startswith(killed[:15]):
                os.kill(pid, signal.SIGKILL)
        # The driver may go on without its cluster, or not: then it is ended as a user would.
        ending = threading.Timer(60.0, driver.terminate)
        ending.start()
        driver.wait(timeout=180.0)
        ending.cancel()
        assert eventually(lambda: not running("75.5"), 60.0), "an arm was left"
    finally:
        driver.kill()
        driver.communicate()
        for pid in running("75.5"):
            os.kill(pid, signal.SIGKILL)
    arms = {"slow": ["true"], "slower": ["true"]}
    with Portfolio(arms, 2, 20.0, store, learner="thompson") as portfolio:
        assert portfolio.history()[0].state in ("lost", "finished")
        assert portfolio.solve("q").solved
        portfolio.verify()


def _below(pid: int) -> list[int]:
    """All processes of a session: Ray's are not all below their driver."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == pid or int(fields[1]) == pid:
                found.append(int(entry))
    return found
