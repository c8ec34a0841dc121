"""portfolio.toml: arms, budget, deadline, cost, learner and storage in one small file.

Arms are tables (what runs), or a list of names: then whoever asks makes the calls.
"""

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from pickbest.catalog.spec import Spec, imported
from pickbest.core import PickbestError, unknown_name
from pickbest.portfolio.run.answers.handling import as_format
from pickbest.portfolio.run.answers.reading import AnswerFormat
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


def _kinds(hint: Any) -> tuple[type, ...]:
    """What TOML may hold for a setting of that type; functions and objects go by their name."""
    found: list[type] = []
    for kind in get_args(hint) if isinstance(hint, UnionType) else (hint,):
        base = get_origin(kind) or kind
        if base is float:
            found += _NUMBER
        elif base in (str, int, bool):
            found.append(base)
        elif base is Sequence:
            found.append(list)
        elif base is Mapping or base is Limits:
            found.append(dict)
        elif base is not NoneType:
            found.append(str)
    return tuple(dict.fromkeys(found))


# Every setting is a key.
_NO_SETTINGS = {
    **_keys("arms", dict, list),
    **_keys("budget concurrency", int),
    **_keys("deadline", *_NUMBER),
    **_keys("storage", str),
}
_KEYS = _NO_SETTINGS | {name: _kinds(hint) for name, hint in get_type_hints(RaceSettings).items()}


def _portfolio(content: dict[str, Any], folder: Path) -> PortfolioFile:
    _check_keys("key", content, _KEYS)
    named = isinstance(content.get("arms"), list)
    for name in ("arms", "budget") if named else ("arms", "budget", "deadline"):
        if name not in content:
            raise PickbestError(f"the key {name!r} is missing")
    tables = content.pop("arms")
    if named:
        _names("arms", tables)
    if "prices" in content:
        numbers = dict.fromkeys(tables, _NUMBER)
        _check_keys("arm of the prices", content["prices"], numbers)
    if named:
        return _of_names(tuple(tables), content, folder)
    arms = {name: _arm(name, table, folder) for name, table in tables.items()}
    settings: dict[str, Any] = dict(content)
    place = {name: settings.pop(name) for name in _NO_SETTINGS if name in settings}
    place["storage"] = _beside(place.get("storage", "sqlite:///portfolio.db"), folder)
    cost = settings.get("cost", "runtime")
    if isinstance(cost, dict) and isinstance(cost.get("function"), str):
        cost = {**cost, "function": _imported(cost["function"], folder)}
    settings["cost"] = as_cost(cost)
    if "answer" in settings:
        settings["answer"] = _format(settings["answer"], folder)
    if "check" in settings:
        settings["check"] = _imported(settings["check"], folder)
    settings["limits"] = _limits(settings.get("limits", {}))
    settings["pass_env"] = _names("pass_env", settings.get("pass_env", []))
    if ":" in settings.get("features", ""):
        settings["features"] = _imported(settings["features"], folder)
    if "learner" in settings:
        settings["learner"] = Spec.of(settings["learner"])
    return PortfolioFile(tuple(arms), arms, settings=RaceSettings(**settings), **place)


def _of_names(names: tuple[str, ...], content: dict[str, Any], folder: Path) -> PortfolioFile:
    """Arms that are names: nothing runs, so nothing is said of running."""
    known = {name: _KEYS[name] for name in get_type_hints(Settings) if name in _KEYS}
    _check_keys("key for arms that are names", content, {**known, **_NO_SETTINGS})
    for name in ("deadline", "concurrency", "stop", "watch"):
        if name in content:
            raise PickbestError(f"arms that are names have no {name}: leave it out")
    storage = _beside(content.pop("storage", "sqlite:///portfolio.db"), folder)
    budget = content.pop("budget")
    if "learner" in content:
        content["learner"] = Spec.of(content["learner"])
    return PortfolioFile(names, {}, budget, storage, Settings(**content))


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


_WORDS = {
    int: "a whole number", float: "a number", str: "text", dict: "a table", list: "a list",
    bool: "true or false",
}  # fmt: skip

_ARM_KEYS = {
    **_keys("command pass_env", list),
    **_keys("python sat answer cwd", str),
    **_keys("env", dict),
    **_keys("cores", int),
}


def _arm(name: str, table: Any, folder: Path) -> Arm:
    if isinstance(table, list):
        table = {"command": table}
    if not isinstance(table, dict):
        raise PickbestError(f"arm {name!r} must be a table or a list of words, got {table!r}")
    _check_keys(f"key of arm {name!r}", table, _ARM_KEYS)
    kinds = [kind for kind in ("command", "python", "sat") if kind in table]
    if len(kinds) != 1:
        raise PickbestError(
            f"arm {name!r} must have one of command, python and sat, "
            f"got {', '.join(kinds) or 'none'}"
        )
    if kinds == ["sat"] and (others := [key for key in table if key != "sat"]):
        raise PickbestError(f"arm {name!r}: {others[0]} is for commands and functions only")
    if "sat" in table:
        return sat_solver(table["sat"])
    place = {
        "cwd": str(folder / table["cwd"]) if "cwd" in table else None,
        "env": tuple((str(key), str(value)) for key, value in table.get("env", {}).items()),
        "pass_env": _names(f"pass_env of arm {name!r}", table.get("pass_env", [])),
        "cores": table.get("cores", 1),
        "answer": _format(table["answer"], folder) if "answer" in table else None,
    }
    if "python" in table:
        origin = (table["python"].partition(":")[0], str(folder))
        return Function(_imported(table["python"], folder), origin=origin, **place)
    return Command(tuple(table["command"]), **place)


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


def _format(spec: str, folder: Path) -> AnswerFormat:
    """A format by its name, or module:function."""
    return as_format(_imported(spec, folder) if ":" in spec else spec)


def _limits(table: dict[str, Any]) -> Limits:
    kinds = {**_keys("memory_mb cpu_seconds grace", *_NUMBER), "processes": (int,)}
    _check_keys("key of limits", table, kinds)
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
