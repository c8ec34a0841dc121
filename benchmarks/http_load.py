"""16 clients of `pickbest serve` at once: ask and tell in batches, with an embedding per request.

    python benchmarks/http_load.py [--learner auto] [--rounds 100000]

The server runs in a process of its own, on a SQLite file in a temporary folder; the clients are
threads of this one. Prints how many ask+tell pass per second, the slowest batch, and how long it
takes to open the journal again, which is what a restart waits for.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from pickbest.client import Client
from pickbest.portfolio import AskTell

MODELS = ("tiny", "small", "medium", "large", "huge")
PRICES = (0.001, 0.003, 0.01, 0.03, 0.1)
CLIENTS, FEATURES, BATCH = 16, 384, 32
TARGET = 500.0


def config(folder: Path, learner: str) -> Path:
    """A router of MODELS; with `calls`, at prices."""
    lines = [f"arms = {list(MODELS)}", "budget = 2", "rewards = true", 'storage = "router.db"']
    if learner == "calls":
        lines += ["trade = 1.0", "[prices]"]
        lines += [f"{name} = {price}" for name, price in zip(MODELS, PRICES, strict=True)]
    path = folder / "router.toml"
    path.write_text("\n".join(lines))
    return path


def serve(path: Path) -> tuple[subprocess.Popen[str], str]:
    """The server, and its address."""
    # One thread for linear algebra: the vectors are short, and the clients need the other cores.
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pickbest.cli.main", "serve", str(path), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=alone)
    if process.stderr is None:
        raise RuntimeError("the server has no standard error")
    words = process.stderr.readline().split()
    address = next(word for word in words if word.startswith("http://"))
    threading.Thread(target=process.stderr.read, daemon=True).start()
    return process, address


def client(address: str, seed: int, batches: int, waits: list[float]) -> None:
    """Ask and tell; a model is right on requests that point its way."""
    rng = np.random.default_rng(seed)
    with Client(address) as router:
        for _ in range(batches):
            known = rng.standard_normal((BATCH, FEATURES)).round(4)
            start = time.perf_counter()
            tickets = router.ask_many([f"client {seed}"] * BATCH, known.tolist())
            router.tell_many(
                [
                    (ticket, [float(row[MODELS.index(name)] > 0.0) for name in ticket.arms])
                    for ticket, row in zip(tickets, known, strict=True)
                ]
            )
            waits.append(time.perf_counter() - start)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--learner", choices=("calls", "auto"), default="calls")
    parser.add_argument("--rounds", type=int, default=16 * BATCH * 10)
    options = parser.parse_args()
    batches = -(-options.rounds // (CLIENTS * BATCH))
    rounds, waits = CLIENTS * BATCH * batches, list[float]()
    with tempfile.TemporaryDirectory() as folder:
        process, address = serve(config(Path(folder), options.learner))
        try:
            client(address, CLIENTS, 1, [])
            threads = [
                threading.Thread(target=client, args=(address, seed, batches, waits))
                for seed in range(CLIENTS)
            ]
            start = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            rate = rounds / (time.perf_counter() - start)
        finally:
            process.terminate()
            process.wait(timeout=60.0)
        start = time.perf_counter()
        with AskTell.reopened(Path(folder) / "router.db") as book:
            opened = time.perf_counter() - start
            finished = book.status().finished
    print(
        f"{options.learner}: {rate:.0f} ask+tell per second ({rounds} rounds, {CLIENTS} clients, "
        f"{FEATURES} features, batches of {BATCH}), slowest batch {max(waits):.2f} s; "
        f"opened again in {opened:.3f} s"
    )
    if finished != rounds + BATCH:
        print(f"{rounds + BATCH} rounds were told, {finished} are finished")
        return 1
    return int(rate < TARGET)


if __name__ == "__main__":
    sys.exit(main())
