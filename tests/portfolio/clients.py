"""Many clients of one portfolio at once: python clients.py STORAGE CLIENTS ROUNDS.

Each client is a process of its own (forked, so that nothing is imported 16 times). It prints
the rounds that it told, one JSON list a client.
"""

from __future__ import annotations

import json
import os
import random
import sys

from pickbest.portfolio import AskTell

ARMS = ("a", "b", "c", "d", "e")


def client(storage: str, rounds: int) -> None:
    book = AskTell(ARMS, 2, storage, seed=4)
    told = []
    for _ in range(rounds):
        ticket = book.ask(f"of {os.getpid()}")
        book.tell(ticket, [random.random(), random.random()])
        told.append(ticket.round)
    book.close()
    os.write(1, json.dumps(told).encode() + b"\n")


def main() -> None:
    storage, clients, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with_everything_loaded = AskTell(ARMS, 2)
    with_everything_loaded.tell(with_everything_loaded.ask(), [0.0, 1.0])
    with_everything_loaded.close()
    pids = []
    for number in range(clients):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                random.seed(number)
                client(storage, rounds)
                code = 0
            finally:
                os._exit(code)
        pids.append(pid)
    endings = [os.waitpid(pid, 0)[1] for pid in pids]
    sys.exit(any(endings))


if __name__ == "__main__":
    main()
