"""Engines run the arms of a round in parallel and stop them for real.

`local`: processes on this machine, the default. `cluster`: tasks on a Ray cluster. On both, an arm
gets the environment that a program needs to run, and none of the portfolio's secrets.
"""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Protocol, runtime_checkable

from pickbest.core.errors import PickbestError, unknown_name
from pickbest.portfolio.runs import EndsRace, GivenUp, Run, Task

NAMES = ("local", "ray")


@runtime_checkable
class Engine(Protocol):
    """Runs races. Every method may be called from any thread."""

    def race(self, tasks: Sequence[Task], ends_race: EndsRace, given_up: GivenUp) -> list[Run]:
        """Run all tasks at once; their runs, in the order of the tasks.

        ends_race is called once for each run, as it ends; when it returns True, the others are
        stopped. given_up is asked a few times per second; when it returns True, all are stopped.
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
        if not sys.platform.startswith("linux"):
            raise PickbestError("engine 'local' needs Linux, whose kernel ends all that arms start")
        from pickbest.portfolio.engine.local import LocalEngine

        return LocalEngine()
    if name == "ray":
        from pickbest.portfolio.engine.cluster import RayEngine

        return RayEngine(**(options or {}))
    raise unknown_name("engine", name, NAMES)


# What programs look up to find their way, and what sets how they compute.
USUAL = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|TERM|COLUMNS|LINES|TZ|TMPDIR|TMP|TEMP|LANG|LANGUAGE|JAVA_HOME|"
    "VIRTUAL_ENV|PICKBEST_SOLVE_INSIDE|CONDA_PREFIX|LD_LIBRARY_PATH|LD_PRELOAD|"
    "(LC|XDG|DYLD|SSL_CERT|OMP|OPENBLAS|MKL|BLIS|GOTO|NUMEXPR|NUMBA|KMP|CUDA|NVIDIA|ROCR|HIP)_.*"
)
# Names under which secrets travel; such a variable reaches an arm only if it is asked for.
SECRET = re.compile(
    r"TOKEN|PASSW|PWD$|SECRET|CREDENTIAL|AUTH|_KEY$|^KEY|APIKEY|DATABASE_URL|_DSN$|COOKIE", re.I
)


def environment(
    ours: Mapping[str, str],
    passed: Iterable[str] = (),
    own: Mapping[str, str] | Iterable[tuple[str, str]] = (),
) -> dict[str, str]:
    """An arm's variables: the usual ones of ours, those that are passed on, and its own.

    passed: names, with * for any letters; "*" alone passes everything on.

    >>> ours = {"PATH": "/bin", "PGPASSWORD": "x", "LICENSE": "here", "CUDA_API_KEY": "x"}
    >>> environment(ours, ["LICENSE"], {"SEED": "1"})
    {'PATH': '/bin', 'LICENSE': 'here', 'SEED': '1'}
    """
    wanted = tuple(passed)
    found = {
        name: value
        for name, value in ours.items()
        if any(fnmatchcase(name, pattern) for pattern in wanted)
        or (USUAL.fullmatch(name) and not SECRET.search(name))
    }
    return {**found, **dict(own)}
