"""Each round, pick B of N arms, keep the best result, and learn which B to pick next."""

from pickbest._version import __version__

__all__ = ["__version__"]
