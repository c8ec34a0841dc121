"""The numbers that the paper prints, and where it prints them.

Source: Falck and Orton, "Trading Off Resource Budgets For Improved Regret Bounds"
(NeurIPS 2022): Table 1 (section 4.2), Table 2 and Table 6 (appendix). Means have three
digits, so each may be off by half a thousandth before anything else is.
"""

from __future__ import annotations

from dataclasses import dataclass

ROUNDING = 0.0005


@dataclass(frozen=True)
class Printed:
    """A printed mean and standard deviation, and over how many runs."""

    mean: float
    std: float
    runs: int


def _of(runs: int, **rows: tuple[float, float]) -> dict[str, Printed]:
    return {name: Printed(mean, std, runs) for name, (mean, std) in rows.items()}


# Table 2: normalized validation scores, by budget. hybrid_2x3: 2 arms in each of 3 boxes,
# which is OG_hybrid(6, 2) in Table 1. Table 1 repeats the rows for B = 6 and B = 4.
TABLE_2: dict[int, dict[str, Printed]] = {
    1: _of(100, best=(0.574, 0.0), fpml=(0.426, 0.0202), exp3=(0.351, 0.0194)),
    2: _of(
        100,
        best=(0.710, 0.0),
        fpml=(0.652, 0.0194),
        hybrid_1x2=(0.577, 0.0187),
        og=(0.519, 0.0179),
    ),
    3: _of(
        100,
        best=(0.779, 0.0),
        fpml=(0.751, 0.0151),
        hybrid_1x3=(0.657, 0.0191),
        og=(0.617, 0.0166),
    ),
    4: _of(
        100,
        best=(0.836, 0.0),
        fpml=(0.813, 0.0108),
        hybrid_2x2=(0.756, 0.0149),
        hybrid_1x4=(0.716, 0.0178),
        og=(0.689, 0.0151),
    ),
    5: _of(
        100,
        best=(0.874, 0.0),
        fpml=(0.855, 0.0094),
        hybrid_1x5=(0.756, 0.0150),
        og=(0.734, 0.0140),
    ),
    6: _of(
        100,
        best=(0.901, 0.0),
        fpml=(0.888, 0.0072),
        hybrid_3x2=(0.836, 0.0111),
        hybrid_2x3=(0.814, 0.0143),
        hybrid_1x6=(0.785, 0.0137),
        og=(0.767, 0.0157),
    ),
}

# Table 6: performance (1 - cost) in the third synthetic environment, B = 3.
TABLE_6: dict[str, Printed] = _of(
    50,
    best=(1.0, 0.0),
    top=(1.0, 0.0),
    fpml=(0.964, 0.0145),
    hybrid_1x3=(0.823, 0.0200),
    og=(0.799, 0.0202),
)
