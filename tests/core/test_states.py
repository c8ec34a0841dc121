"""States from files: what does not count anything is refused, whatever field it stands in."""

from typing import Annotated, NamedTuple

import numpy as np
import pytest

from pickbest.core import PickbestError
from pickbest.core.states import (
    MOST_COUNTED,
    MOST_ROUNDS,
    check_state,
    counts,
    restore_arrays,
    sums,
)


class Part(NamedTuple):
    plays: Annotated[np.ndarray, counts(-1)]
    changes: Annotated[np.ndarray, counts(signed=True)]


class Known(NamedTuple):
    costs: Annotated[np.ndarray, sums(-1)]
    round: Annotated[np.ndarray, counts()]
    part: Part


def known(costs=0.0, rounds=0, plays=0.0, changes=0.0):
    part = Part(np.full((1, 3), plays), np.full(1, changes))
    return Known(np.full((1, 3), costs), np.full(1, rounds), part)


@pytest.mark.parametrize(
    "numbers",
    [
        {},
        {"costs": -5.0, "rounds": 7, "plays": 3.5, "changes": -2.0},
        {"rounds": MOST_ROUNDS},
        {"plays": MOST_COUNTED, "changes": MOST_COUNTED},
        {"changes": -MOST_COUNTED},
    ],
)
def test_what_is_sound_passes(numbers):
    state = known(**numbers)
    assert check_state(state) is state


@pytest.mark.parametrize(
    ("numbers", "path"),
    [
        ({"costs": np.nan}, "no finite numbers in costs"),
        ({"changes": np.inf}, "no finite numbers in part/changes"),
        ({"rounds": -1}, "round: counts must be between"),
        ({"rounds": MOST_ROUNDS + 1}, "round: counts must be between"),
        ({"plays": -0.5}, "part/plays: counts must be between"),
        ({"plays": 2 * MOST_COUNTED}, "part/plays: counts must be between"),
        ({"changes": -2 * MOST_COUNTED}, "part/changes: counts must be between"),
    ],
)
def test_what_is_not_is_named(numbers, path):
    with pytest.raises(PickbestError, match=path):
        check_state(known(**numbers))


def test_fields_of_no_arms_have_nothing_to_check():
    part = Part(np.empty((1, 0)), np.zeros(1))
    check_state(Known(np.empty((1, 0)), np.zeros(1, np.int64), part))


def test_arrays_that_do_not_fit_are_refused():
    pattern = known()
    arrays = {"costs": np.ones((1, 3)), "round": np.array([4])}
    arrays |= {"part/plays": np.zeros((1, 3)), "part/changes": np.zeros(1)}
    assert restore_arrays(pattern, arrays).round == 4
    for path, wrong in (("costs", np.ones((1, 4))), ("round", np.array([4.0]))):
        with pytest.raises(PickbestError, match="does not fit"):
            restore_arrays(pattern, {**arrays, path: wrong})
    with pytest.raises(PickbestError, match="does not fit"):
        restore_arrays(pattern, {"costs": arrays["costs"]})
