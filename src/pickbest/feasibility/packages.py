"""The optional packages of this layer, loaded where they are needed."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from pickbest.core import MissingExtraError


def load(module: str, purpose: str) -> Any:
    """A module of the extra `lp`, or one sentence that says how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(module.partition(".")[0], "lp", purpose) from error


def is_sparse(matrix: object) -> bool:
    """Whether this is a SciPy sparse matrix: none can exist where scipy.sparse is not loaded."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(matrix))
