"""Public names that are loaded on first use, so that importing a package is quick."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """(__getattr__, __dir__, __all__) of a package; homes: names by the module that has them."""
    places = {name: module for module, names in homes.items() for name in names.split()}
    public = sorted(places)

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"pickbest.{places[name]}"), name)

    return find, lambda: public, public
