"""Features of a problem, known before arms are picked: names, and what can be computed with.

A feature is a number, a text (a category), true or false, or missing (None or NaN). Encoded, it
is one float: numbers are themselves, and words (texts and what is missing) are codes beyond
every number, so that equal words are equal, and all that differ are equally far apart.
"""

import math
import zlib
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from pickbest.core.arrays import FloatArray
from pickbest.core.errors import PickbestError

Feature = float | str | None
Features = Mapping[str, Feature] | Sequence[Feature] | FloatArray

# Numbers are cut there, so that sums of their squares can be saved; words are multiples of WORD.
LARGEST_NUMBER, WORD = 1e40, 1e60
MISSING = WORD
MOST_FEATURES, LONGEST_TEXT = 10_000, 10_000


class FeaturesError(PickbestError):
    """Features that do not go with those of earlier rounds, or with the learner."""


def feature_names(features: Features) -> tuple[str, ...]:
    """What a problem's features are called: in their order, or sorted if they have names.

    >>> feature_names({"size": 3, "logic": "QF_BV"}), feature_names([3.0, None])
    (('logic', 'size'), ('0', '1'))
    """
    if isinstance(features, str | bytes) or not isinstance(
        features, Mapping | Sequence | np.ndarray
    ):
        raise PickbestError(f"features must be a list or a mapping by name, got {features!r:.100}")
    if not 0 < len(features) <= MOST_FEATURES:
        raise PickbestError(
            f"there must be 1 to {MOST_FEATURES} features, got {len(features)}: leave them out "
            "where there are none"
        )
    if isinstance(features, Mapping):
        for name in features:
            if not isinstance(name, str):
                raise PickbestError(f"a feature's name must be text, got {name!r:.100}")
        return tuple(sorted(features))
    return _numbered(len(features))


@cache
def _numbered(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def kept(features: Features) -> dict[str, Feature] | list[Feature]:
    """As JSON can hold them: by name where they have names, else in a list.

    >>> kept([float("nan"), True, "x"]), kept({"size": 3})
    ([None, 1.0, 'x'], {'size': 3.0})
    """
    named = by_name(features)
    return named if isinstance(features, Mapping) else list(named.values())


def by_name(features: Features) -> dict[str, Feature]:
    """The features by name, as JSON can hold them: finite numbers, texts, None if missing.

    >>> by_name([float("nan"), True, "x"])
    {'0': None, '1': 1.0, '2': 'x'}
    """
    names = feature_names(features)
    row = [features[name] for name in names] if isinstance(features, Mapping) else features
    codes = _codes(names, row).tolist()
    return {
        name: one if isinstance(one, str) else None if code == MISSING else code
        for name, one, code in zip(names, row, codes, strict=True)
    }


def encoded(features: Features, names: tuple[str, ...]) -> FloatArray:
    """(n_features,) the features in the order of `names`, which must be all that there are.

    >>> encoded({"size": 3, "solved": None}, ("size", "solved")).tolist() == [3.0, MISSING]
    True
    """
    given = feature_names(features)
    if given != names:
        missing = [name for name in names if name not in given]
        new = [name for name in given if name not in names]
        changed = [
            f"{word} {', '.join(some[:5])}"
            for word, some in (("without", missing), ("with", new))
            if some
        ]
        raise FeaturesError(
            f"features must be the {len(names)} of the first problem, got {len(given)} "
            f"({'; '.join(changed)}): give None for what is missing, or begin a new game"
        )
    row = [features[name] for name in names] if isinstance(features, Mapping) else features
    return _codes(names, row)


def _codes(names: Sequence[str], row: Sequence[Feature] | FloatArray) -> FloatArray:
    """(n_features,) the codes of a row; one that holds only numbers is encoded at once."""
    if set(map(type, row)) <= {float, np.float64}:
        return encoded_numbers(np.array(row, np.float64))
    return np.array([encoded_one(name, one) for name, one in zip(names, row, strict=True)])


def encoded_one(name: str, feature: Feature) -> float:
    """The code of one feature; name: for the error."""
    if feature is None:
        return MISSING
    if isinstance(feature, str):
        if len(feature) > LONGEST_TEXT:
            raise PickbestError(f"feature {name!r} has more than {LONGEST_TEXT} letters")
        return WORD * (2 + zlib.crc32(feature.encode("utf-8", "surrogatepass")))
    try:
        number = float(feature)
    except (TypeError, ValueError, OverflowError) as error:
        raise PickbestError(
            f"feature {name!r} must be a number, a text or None, got {feature!r:.100}"
        ) from error
    if math.isnan(number):
        return MISSING
    return min(max(number, -LARGEST_NUMBER), LARGEST_NUMBER)


def encoded_numbers(table: FloatArray) -> FloatArray:
    """A table of numbers, NaN where missing, encoded."""
    numbers: FloatArray = np.clip(table, -LARGEST_NUMBER, LARGEST_NUMBER)
    return np.where(np.isnan(table), MISSING, numbers)
