"""A name with options, as text and as data: how every entrance names learners and environments.

    og                                      a name
    og:tuning=as_run,slots=distinct         a name with options
    fixed:arms=0+2+5                        a list of values; of one value: arms=5+; of none: +
    mine:inner=thompson:prior=0.5           a value may itself be a name with an option
    mymodule:MyLearner:rate=0.5             a class or function of a module of your own

The options begin at the first colon that is followed by `key=`. A value ends at a comma, a value
of a list at a plus. Values are numbers (5, .3, 1e-3), true, false or words. In TOML and JSON the
same is a table whose key `name` holds the name, and whose other keys are the options, with any
text: {name = "og", tuning = "as_run"}.
"""

import inspect
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from pickbest.core import PickbestError, unknown_name
from pickbest.core.references import import_from

Scalar = bool | int | float | str
Value = Scalar | tuple[Scalar, ...]

# One line for `--help`.
SYNTAX = "NAME, NAME:key=value,key=value or module:Name:key=value; a list is key=1+2+3"

_PARTS = re.compile(r"(?P<name>[^:].*?)(?::(?P<options>\s*[A-Za-z_]\w*\s*=.*))?", re.DOTALL)
_KEY = re.compile(r"[A-Za-z_]\w*")
_WORDS: dict[str, bool] = {"true": True, "false": False}


@dataclass(frozen=True)
class Spec:
    """A name with options; None as a value means "choose for me", and is left out.

    Its text shows it; text with a comma or a plus in it is only read back from data.

    >>> spec = Spec.parse("og-hybrid:slot_budget=2,slots=distinct")
    >>> spec.options
    {'slot_budget': 2, 'slots': 'distinct'}
    >>> str(spec.with_options(slots=None, tuning="as_run"))
    'og-hybrid:slot_budget=2,tuning=as_run'
    """

    name: str
    options: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self._parts(self.name) != (self.name, ""):
            raise PickbestError(f"a name must be text without options, got {self.name!r}")
        given = {key: value for key, value in self.options.items() if value is not None}
        for key in given:
            if not _KEY.fullmatch(key) or key == "name":
                raise PickbestError(f"an option of {self.name} cannot be called {key!r}")
        plain = {key: _plain(value, f"{key} of {self.name}") for key, value in given.items()}
        object.__setattr__(self, "options", plain)

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self.options.items())))

    @classmethod
    def parse(cls, text: str) -> Self:
        """The spec that a text stands for; the text of a spec gives the same spec again."""
        name, rest = cls._parts(text)
        options: dict[str, Value] = {}
        for option in rest.split(",") if rest else ():
            key, equals, value = option.partition("=")
            if not equals:
                raise PickbestError(f"options must be key=value, got {option!r} in {text!r}")
            if key.strip() in options:
                raise PickbestError(f"the option {key.strip()!r} is given twice in {text!r}")
            options[key.strip()] = _value(value.strip(), text)
        return cls(name, options)

    @classmethod
    def of(cls, given: "str | Mapping[str, Any] | Spec") -> Self:
        """From text, from a table with the key `name`, or from a spec."""
        if isinstance(given, Spec):
            return cls(given.name, given.options)
        if isinstance(given, str):
            return cls.parse(given)
        if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
            raise PickbestError(f"expected text or a table with the key 'name', got {given!r}")
        own = cls.parse(given["name"])
        return own.with_options(**{key: given[key] for key in given if key != "name"})

    @staticmethod
    def _parts(text: str) -> tuple[str, str]:
        parts = _PARTS.fullmatch(text.strip()) if isinstance(text, str) else None
        if parts is None:
            raise PickbestError(f"a name is missing in {text!r}; expected {SYNTAX}")
        return parts["name"].strip(), parts["options"] or ""

    def __str__(self) -> str:
        shown = ",".join(f"{key}={_shown(value)}" for key, value in self.options.items())
        return f"{self.name}:{shown}" if shown else self.name

    def with_options(self, **options: Any) -> Self:
        """The same with these options, too; where both have one, the new value holds."""
        return type(self)(self.name, {**self.options, **options})


def _plain(value: Any, what: str) -> Value:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping | Spec):
        return str(Spec.of(value))
    if isinstance(value, list | tuple):
        items = tuple(_plain(item, what) for item in value)
        if not any(isinstance(item, tuple) for item in items):
            return items  # type: ignore[return-value]
    elif isinstance(value, bool | int | float | str):
        return value
    raise PickbestError(f"{what} must be a number, true, false, text or a list, got {value!r}")


# Text ---------------------------------------------------------------------------------------


def _shown(value: Value) -> str:
    if isinstance(value, tuple):
        return "+".join(map(_shown, value)) + ("+" if len(value) < 2 else "")
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else repr(value).replace("e+", "e")


def _value(text: str, whole: str) -> Value:
    if text == "+":
        return ()
    # A plus may also be that of 1e+3.
    one = _bare(text)
    items = [text] if "+" not in text or isinstance(one, float) else text.split("+")
    if len(items) > 1 and items[-1] == "":
        items.pop()
    if not all(map(str.strip, items)):
        raise PickbestError(f"a value is missing in {whole!r}")
    return one if items == [text] else tuple(_bare(item.strip()) for item in items)


def _bare(text: str) -> Scalar:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return _WORDS.get(text, text)


# Modules ------------------------------------------------------------------------------------


def from_module(name: str, kind: str, known: Iterable[str], needs: Iterable[str] = ()) -> Any:
    """The class or function that `module:Name` names.

    needs: parameters that it must have. Whatever lacks them is refused before it is called, so
        that a name in a file starts nothing but what makes such things.
    """
    try:
        found = imported(name, kind)
    except PickbestError as error:
        names = ", ".join(sorted(known))
        raise PickbestError(
            f"unknown {kind} {name!r}: it is no known name ({names}), and not a class or "
            f"function of a module that can be imported ({error.__cause__ or error})"
        ) from error
    if not callable(found) or not set(needs) <= parameters(found).keys():
        needed = f" with the parameters {', '.join(needs)}" if needs else ""
        raise PickbestError(f"{name} must be a class or function{needed}, got {found!r}")
    return found


def imported(reference: str, kind: str, folder: str | None = None) -> Any:
    """What `module:NAME` of the user's names; kind: what it is wanted as, for the error.

    folder: where the module may lie that is not installed; None: in the current folder.
    """
    module, _, name = reference.partition(":")
    if not module or not name:
        raise PickbestError(
            f"the {kind} of your own must be written as module:NAME, got {reference!r}"
        )
    try:
        return getattr(import_from(folder or os.getcwd(), module), name)
    except Exception as error:  # a module may raise anything while it is imported
        raise PickbestError(f"the {kind} {reference!r} cannot be imported: {error}") from error


def parameters(make: Callable[..., Any]) -> dict[str, Any]:
    """The names of a class's or function's parameters, with their default values."""
    try:
        known = inspect.signature(make).parameters
    except (TypeError, ValueError) as error:
        raise PickbestError(f"the parameters of {make!r} cannot be read ({error})") from error
    return {name: parameter.default for name, parameter in known.items()}


def check_options(name: str, given: Collection[str], options: Mapping[str, Any]) -> None:
    """Every option is known, and none is missing that has no default value."""
    for option in given:
        if option not in options:
            raise unknown_name(f"option of {name}", option, options)
    for option, default in options.items():
        if default is inspect.Parameter.empty and option not in given:
            raise PickbestError(f"{name} needs the option {option}")
