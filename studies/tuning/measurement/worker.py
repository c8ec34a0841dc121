"""A warm process of `processes`, which plays units, each in a fork of its own.

It reads JSON lines (first the optimizers to import, then requests) and writes messages. A fork
for each unit, because several optimizers keep global random state.
"""

import contextlib
import importlib
import json
import os
import select
import signal
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import IO, Any

from pickbest.core import MissingExtraError, PickbestError
from pickbest.core.codec import decode, encode
from studies.tuning.measurement.units import Message, Request, play
from studies.tuning.optimizers import make_optimizer
from studies.tuning.tasks.task import MODELS, folds_of

OURS = (PickbestError, MissingExtraError)

Send = Callable[[Message], None]


def main() -> None:
    """Serve until the input ends; what libraries print goes to the error stream."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def send(message: Message) -> None:
        out.write(encode(message).encode() + b"\n")
        out.flush()

    warm = json.loads(sys.stdin.readline() or "{}")
    send(_warm_up(warm.get("optimizers", ())))
    while line := sys.stdin.readline():
        request = decode(Request, line)
        with contextlib.suppress(Exception):
            # Read once here, not in every fork.
            folds_of(request.unit.task)
        code = in_fork(partial(_play, request, send), sys.stdin)
        send({"finished": True} if code == 0 else {"died": _describe(code)})


def _play(request: Request, send: Send) -> None:
    try:
        for message in play(request):
            send(message)
    except Exception as error:
        send({"error": f"{request.unit.task.name}: {error!r}"})


def _warm_up(optimizers: Iterable[str]) -> Message:
    """Import what the optimizers import, found out in a fork so that nothing of them is used."""
    import sklearn.linear_model
    import sklearn.metrics
    import sklearn.model_selection
    import sklearn.multiclass
    import sklearn.neural_network  # noqa: F401

    reader, writer = os.pipe()

    def explore() -> None:
        found: dict[str, Any] = {"modules": []}
        space = next(iter(MODELS.values())).space
        for name in optimizers:
            try:
                make_optimizer(name, space, 0, 20).ask()
            except Exception as error:
                found["error"] = str(error) if isinstance(error, OURS) else f"{name}: {error!r}"
        found["modules"] = list(sys.modules)
        with os.fdopen(writer, "w") as file:
            json.dump(found, file)

    pid = os.fork()
    if pid == 0:
        _child(explore)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(pid, 0)
    found = json.loads(text or '{"error": "importing the optimizers ended the process"}')
    for module in found.pop("modules", []):
        with contextlib.suppress(Exception):
            importlib.import_module(module)
    return {"ready": True, **found}


def in_fork(action: Callable[[], None], owner: IO[str]) -> int:
    """Exit code of the action in a fork; the fork is killed when the owner's stream ends."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _child(action)
    os.close(writer)
    ready, _, _ = select.select([reader, owner.fileno()], [], [])
    if reader not in ready:
        os.kill(pid, signal.SIGKILL)
    os.close(reader)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _child(action: Callable[[], None]) -> None:
    code = 1
    try:
        action()
        code = 0
    finally:
        sys.stderr.flush()
        os._exit(code)


def _describe(code: int) -> str:
    if code < 0:
        return f"process died ({signal.Signals(-code).name})"
    return f"process died (exit code {code})"


if __name__ == "__main__":
    main()
