"""What is wrong before anything runs: problems that are not there, arms that cannot start."""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pickbest.core import PickbestError
from pickbest.portfolio.run.answers.formats import TEXT, guess_format
from pickbest.portfolio.run.arms import Arm, Command


def check_problem(problem: Any) -> None:
    """Refuse the name of a file that is not there: that is nobody's failure but the caller's."""
    if names_file(problem) and not Path(problem).exists():
        raise PickbestError(f"{problem}: there is no such file")


def names_file(problem: Any) -> bool:
    """Whether a problem can only be a file: a Path, or text with a suffix that we know."""
    return isinstance(problem, Path) or guess_format(problem) is not TEXT


def missing_files(problems: Iterable[str]) -> list[str]:
    """Problems that are not there, where problems are files.

    Text may be any label. It is taken for a file where its name says so, or where others of the
    same list are files.
    """
    listed = list(problems)
    files = any(os.path.exists(problem) for problem in listed)
    return [
        problem
        for problem in listed
        if (files or names_file(problem) or (os.sep in problem and "://" not in problem))
        and not os.path.exists(problem)
    ]


def idle_arms(arms: Mapping[str, Arm], pass_env: Iterable[str] = ()) -> dict[str, str]:
    """Arms that cannot start, and why; nothing is run."""
    from pickbest.portfolio.engine.environment import environment

    found = {}
    for name, arm in arms.items():
        if isinstance(arm, Command):
            given = environment(os.environ, (*arm.pass_env, *pass_env), arm.env)
            reason = _cannot_start(arm, given.get("PATH", os.defpath))
            if reason:
                found[name] = reason
    return found


def _cannot_start(arm: Command, path: str) -> str:
    program = arm.argv[0]
    if arm.cwd is not None and not Path(arm.cwd).is_dir():
        return f"{arm.cwd}: there is no such folder"
    if os.sep in program:
        place = Path(arm.cwd or os.getcwd(), program)
        if not place.exists():
            return f"{program}: there is no such file"
        return "" if os.access(place, os.X_OK) else f"{program}: it may not be executed"
    return "" if shutil.which(program, path=path) else f"{program}: there is no such program"
