"""portfolio.toml: arms, budget, deadline, cost, learner and storage in one small file.

Arms are tables (what runs), or a list of names: then whoever asks makes the calls.
"""

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pickbest.catalog.spec import Spec, imported
from pickbest.core import PickbestError, unknown_name
from pickbest.portfolio.run.answers.handling import as_format
from pickbest.portfolio.run.arms import Arm, Command, Function, sat_solver
from pickbest.portfolio.run.costs import as_cost
from pickbest.portfolio.run.portfolio import Portfolio
from pickbest.portfolio.run.settings import RaceSettings, Settings
from pickbest.portfolio.runs import Limits

_NUMBER = (int, float)
# Seeds are the largest numbers that a portfolio has.
LARGEST = 2**64 - 1


@dataclass(frozen=True)
class PortfolioFile:
    """What a portfolio.toml says: the arguments of Portfolio, and how many problems at a time.

    names: all arms; those that are only names are not among `arms`, and have no deadline.
    """

    names: tuple[str, ...]
    arms: Mapping[str, Arm]
    budget: int
    storage: str
    settings: Settings
    deadline: float = 0.0
    concurrency: int = 1

    def open(self) -> Portfolio:
        """The portfolio that the file describes."""
        return Portfolio(self.arms, self.budget, self.deadline, self.storage, settings=self.race)

    @property
    def race(self) -> RaceSettings:
        """How arms are run; refused where they are only names."""
        if not isinstance(self.settings, RaceSettings):
            raise PickbestError(
                "the arms are names, so there is nothing to run: use `pickbest serve`, or AskTell"
            )
        return self.settings


def read_portfolio_file(path: str | Path) -> PortfolioFile:
    """Read and check a portfolio.toml; every mistake is one sentence."""
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PickbestError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise PickbestError(f"{path}: must be text in UTF-8 ({error})") from error
    except (ValueError, RecursionError) as error:
        raise PickbestError(f"{path}: not valid TOML: {error}") from error
    try:
        return _portfolio(content, path.resolve().parent)
    except PickbestError as error:
        raise PickbestError(f"{path}: {error}") from error


def _keys(names: str, *kinds: type) -> dict[str, tuple[type, ...]]:
    """What keys must be."""
    return dict.fromkeys(names.split(), kinds)


_COMMON = {
    **_keys("arms", dict, list),
    **_keys("budget seed rounds", int),
    **_keys("storage name", str),
    **_keys("learner", str, dict),
    **_keys("prices", dict),
    **_keys("trade", *_NUMBER),
}
_OF_NAMES = {**_COMMON, **_keys("rewards cascade", bool)}
_OF_RACES = {
    **_COMMON,
    **_keys("deadline watch price", *_NUMBER),
    **_keys("concurrency", int),
    **_keys("stop answer check features engine", str),
    **_keys("cost", str, dict),
    **_keys("limits engine_options", dict),
    **_keys("pass_env", list),
}
_OF_ARMS = {
    **_keys("command", list),
    **_keys("python sat answer cwd", str),
    **_keys("env", dict),
    **_keys("cores", int),
}
_OF_LIMITS = {**_keys("memory_mb cpu_seconds grace", *_NUMBER), **_keys("processes", int)}
_WORDS = {
    int: "a whole number", float: "a number", str: "text", dict: "a table", list: "a list",
    bool: "true or false",
}  # fmt: skip


def _portfolio(content: dict[str, Any], folder: Path) -> PortfolioFile:
    named = isinstance(content.get("arms"), list)
    if named:
        _check_keys("key for arms that are names", content, _OF_NAMES)
    else:
        _check_keys("key", content, _OF_RACES)
    for name in ("arms", "budget") if named else ("arms", "budget", "deadline"):
        if name not in content:
            raise PickbestError(f"the key {name!r} is missing")
    settings = dict(content)
    tables, budget = settings.pop("arms"), settings.pop("budget")
    storage = _beside(settings.pop("storage", "sqlite:///portfolio.db"), folder)
    names = _names("arms", tables) if named else tuple(tables)
    if "prices" in settings:
        _check_keys("arm of the prices", settings["prices"], dict.fromkeys(names, _NUMBER))
    if "learner" in settings:
        settings["learner"] = Spec.of(settings["learner"])
    if named:
        return PortfolioFile(names, {}, budget, storage, Settings(**settings))
    place = {name: settings.pop(name) for name in ("deadline", "concurrency") if name in settings}
    for name in ("cost", "answer", "check", "features"):
        given = settings.get(name, "")
        if (name == "check" and given) or (isinstance(given, str) and ":" in given):
            settings[name] = _imported(given, folder)
    settings["cost"] = as_cost(settings.get("cost", "runtime"))
    if "answer" in settings:
        settings["answer"] = as_format(settings["answer"])
    settings["limits"] = _limits(settings.get("limits", {}))
    settings["pass_env"] = _names("pass_env", settings.get("pass_env", []))
    arms = {name: _arm(name, table, folder) for name, table in tables.items()}
    return PortfolioFile(names, arms, budget, storage, RaceSettings(**settings), **place)


def _check_keys(
    kind: str, content: Mapping[str, Any], known: Mapping[str, tuple[type, ...]]
) -> None:
    for name, value in content.items():
        if name not in known:
            raise unknown_name(kind, name, known)
        wrong_bool = isinstance(value, bool) and bool not in known[name]
        if wrong_bool or not isinstance(value, known[name]):
            wanted = " or ".join(_WORDS[each] for each in known[name])
            raise PickbestError(f"{kind} {name!r} must be {wanted}, got {value!r:.200}")
        if isinstance(value, float) and not math.isfinite(value):
            raise PickbestError(f"{kind} {name!r} must be finite, got {value!r}")
        if isinstance(value, int) and abs(value) > LARGEST:
            raise PickbestError(f"{kind} {name!r} must be at most {LARGEST} in size")


def _arm(name: str, table: Any, folder: Path) -> Arm:
    if isinstance(table, list):
        table = {"command": table}
    if not isinstance(table, dict):
        raise PickbestError(f"arm {name!r} must be a table or a list of words, got {table!r}")
    _check_keys(f"key of arm {name!r}", table, _OF_ARMS)
    kinds = [kind for kind in ("command", "python", "sat") if kind in table]
    if len(kinds) != 1:
        raise PickbestError(
            f"arm {name!r} must have one of command, python and sat, "
            f"got {', '.join(kinds) or 'none'}"
        )
    if "sat" in table:
        return replace(sat_solver(table["sat"]), **_place(table, folder))
    if "python" in table:
        origin = (table["python"].partition(":")[0], str(folder))
        function = _imported(table["python"], folder)
        return Function(function, origin=origin, **_place(table, folder))
    return Command(tuple(table["command"]), **_place(table, folder))


def _place(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Where an arm runs, with what around it, and how its answers are read."""
    found: dict[str, Any] = {"cores": table.get("cores", 1)}
    found["env"] = tuple((str(key), str(value)) for key, value in table.get("env", {}).items())
    if "cwd" in table:
        found["cwd"] = str(folder / table["cwd"])
    if "answer" in table:
        given = table["answer"]
        found["answer"] = as_format(_imported(given, folder) if ":" in given else given)
    return found


def _names(what: str, given: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(name, str) for name in given):
        raise PickbestError(f"{what} must be a list of names, got {given!r}")
    return tuple(given)


def _imported(reference: str, folder: Path) -> Callable[..., Any]:
    """module:function; the module may be in the folder of the file."""
    found = imported(reference, "function", str(folder))
    if not callable(found):
        raise PickbestError(f"{reference!r} must be a function, got {found!r}")
    result: Callable[..., Any] = found
    return result


def _limits(table: dict[str, Any]) -> Limits:
    _check_keys("key of limits", table, _OF_LIMITS)
    given = dict(table)
    if "memory_mb" in given:
        given["memory_bytes"] = round(given.pop("memory_mb") * 1024**2)
    return Limits(**given)


def _beside(storage: str, folder: Path) -> str:
    """SQLite paths are relative to the folder of portfolio.toml."""
    prefix = "sqlite:///"
    if storage.startswith(prefix) and not storage.startswith(prefix + "/"):
        return prefix + str(folder / storage.removeprefix(prefix))
    if "://" not in storage:
        return prefix + str(folder / storage)
    return storage
