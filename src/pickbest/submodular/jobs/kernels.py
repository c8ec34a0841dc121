"""Monotone submodular jobs, compiled.

A job is a weighted sum over items, and a schedule is known by one number per item, its summary:

    MAX   the best entry that a pulled arm has for the item: best-of, coverage, facility
          location, time to solve
    MISS  the probability that every pulled arm failed on the item: probabilistic coverage

Entries are (n_items, n_arms), in [0, 1]; weights are (n_items,) and add up to at most 1.
"""

from pickbest.core import BoolArray, FloatArray, IntArray
from pickbest.kernels.compiled import borrowing, kernel

MAX, MISS = 0, 1


@kernel
def gain_of(
    kind: int, entries: FloatArray, arm: int, weights: FloatArray, summary: FloatArray
) -> float:
    """What an arm adds to a schedule with this summary."""
    total = 0.0
    for i in range(entries.shape[0]):
        if kind == MAX:
            better = entries[i, arm] - summary[i]
            total += weights[i] * (better if better > 0.0 else 0.0)
        else:
            total += weights[i] * summary[i] * entries[i, arm]
    # Weights add up to 1 but for rounding; a gain is never more.
    return min(total, 1.0)


@kernel
def all_gains(
    kind: int, entries: FloatArray, weights: FloatArray, summary: FloatArray, out: FloatArray
) -> None:
    """out[a] = gain_of arm a, to the last bit.

    Items are the outer loop, so the inner one has no sum that runs through it and uses the
    processor's vector units; items from which nothing can be gained are left out.
    """
    out[:] = 0.0
    for i in range(entries.shape[0]):
        row = entries[i]
        if kind == MAX:
            weight, best = weights[i], summary[i]
            if weight > 0.0 and best < 1.0:
                for a in range(row.shape[0]):
                    better = row[a] - best
                    out[a] += weight * (better if better > 0.0 else 0.0)
        else:
            weight = weights[i] * summary[i]
            if weight > 0.0:
                for a in range(row.shape[0]):
                    out[a] += weight * row[a]
    for a in range(out.shape[0]):
        out[a] = min(out[a], 1.0)


@kernel
def extend(kind: int, entries: FloatArray, arm: int, summary: FloatArray) -> None:
    """The summary with one more arm."""
    for i in range(entries.shape[0]):
        if kind == MAX:
            summary[i] = max(summary[i], entries[i, arm])
        else:
            summary[i] *= 1.0 - entries[i, arm]


@kernel
def value_of(kind: int, weights: FloatArray, summary: FloatArray) -> float:
    """The job's value of a schedule with this summary."""
    total = 0.0
    for i in range(weights.shape[0]):
        total += weights[i] * (summary[i] if kind == MAX else 1.0 - summary[i])
    return min(total, 1.0)


@borrowing
def fill_values(kind: int, weights: FloatArray, summary: FloatArray, out: FloatArray) -> None:
    """out[r] = value of replicate r's schedule; weights are (replicates or 1, n_items)."""
    for r in range(out.shape[0]):
        out[r] = value_of(kind, weights[r if weights.shape[0] > 1 else 0], summary[r])


@borrowing
def fill_gains(
    kind: int,
    entries: FloatArray,
    weights: FloatArray,
    summary: FloatArray,
    arms: IntArray,
    out: FloatArray,
) -> None:
    """out[r, j] = gain of arm arms[r, j], 0 for arm -1; of arm j where arms has no columns.

    entries are (replicates or 1, n_items, n_arms), weights (replicates or 1, n_items).
    """
    for r in range(out.shape[0]):
        own = entries[r if entries.shape[0] > 1 else 0]
        weight = weights[r if weights.shape[0] > 1 else 0]
        if arms.shape[1] == 0:
            all_gains(kind, own, weight, summary[r], out[r])
        for j in range(arms.shape[1]):
            arm = arms[r, j]
            out[r, j] = gain_of(kind, own, arm, weight, summary[r]) if arm >= 0 else 0.0


@borrowing
def extend_all(
    kind: int, entries: FloatArray, arms: IntArray, kept: BoolArray, summary: FloatArray
) -> None:
    """Every replicate's summary with its arm, where the arm is kept."""
    for r in range(summary.shape[0]):
        if kept[r]:
            extend(kind, entries[r if entries.shape[0] > 1 else 0], arms[r], summary[r])
