"""The integrals behind exact inclusion probabilities, for any number of arms.

Arm a lies below a level z with probability min(1, w_a z), independently, and is picked when
fewer than `budget` others lie below its own level. So

    q_a = w_a ∫_0^{1 / w_a} P(fewer than budget of the others lie below z) dz.

Between consecutive 1 / w the integrand is a polynomial in z, and it vanishes behind the
budget-th smallest 1 / w of the others, so pieces end there. An arm whose 1 / w lies before a
piece is certain to be below, and only lowers the count that is left. The others enter

- one by one if they were picked, or are likely to be below;
- else together, through power sums: with p = w z, Π (1 - p + p x) has the logarithm
  Σ ln(1 - p) + Σ ln(1 + r x), r = p / (1 - p), and both are series in the sums Σ p^k.

The integrand without arm a is a product of what stands before and behind a in the list of
picked arms: nothing is ever divided out.

Weights are scaled so that the range of integration ends at 1: the count expected below it is
so large that the rest is negligible, or the integrand vanishes behind it. Nodes are worked on
LANES at a time, side by side in the last axis, which is what vector instructions are for.
"""

import math
from typing import cast

import numpy as np

from pickbest.core import FloatArray
from pickbest.kernels.compiled import allocating, kernel

LANES = 4
MOST_CHUNKS = 16
# Row m: the 4 m Gauss-Legendre nodes of [0, 1] and their weights.
NODES = np.zeros((MOST_CHUNKS + 1, MOST_CHUNKS * LANES))
NODE_WEIGHTS = np.zeros((MOST_CHUNKS + 1, MOST_CHUNKS * LANES))
# REACH[m, left]: over a panel that spans this much expected count, 4 m nodes leave an error
# below TOLERANCE. The 2n-th derivative is at most (2n - 1 choose left - 1) · slope^2n, because
# differences of a step are binomial coefficients; the rest is Gauss-Legendre's error term.
TOLERANCE = 1e-14
MOST_LEFT = 64
REACH = np.zeros((MOST_CHUNKS + 1, MOST_LEFT + 1))


def _fill_tables() -> None:
    for chunks in range(1, MOST_CHUNKS + 1):
        n = chunks * LANES
        nodes, weights = np.polynomial.legendre.leggauss(n)
        NODES[chunks, :n] = 0.5 * (nodes + 1.0)
        NODE_WEIGHTS[chunks, :n] = 0.5 * weights
        log_error = 4 * math.lgamma(n + 1) - math.log(2 * n + 1) - 3 * math.lgamma(2 * n + 1)
        for left in range(1, MOST_LEFT + 1):
            steepest = math.log(math.comb(2 * n - 1, min(left, n) - 1))
            REACH[chunks, left] = math.exp((math.log(TOLERANCE) - log_error - steepest) / (2 * n))


_fill_tables()

# Arms enter together where p <= LIGHT at the end of the range: then the series leave less
# than (2 LIGHT)^POWERS · LIGHT / POWERS = 5e-15 of each arm out.
POWERS = 24
LIGHT = 5.0 / 32.0
BINOMIAL = np.array([[float(math.comb(i, j)) for i in range(POWERS)] for j in range(POWERS)])

# A chance below exp(-NEGLIGIBLE) that fewer than `budget` lie below is taken as 0.
NEGLIGIBLE = 30.0
# exp(±count) must be representable in the recursion of _count_light.
MOST_COUNT = 600.0
# Heavier arms are picked with probability 1 to rounding: where arms that are lighter by 2^-96
# must fill the rest of the budget, it takes 10^12 of them to change the last digit.
HEAVIEST_BITS = 96.0
HEAVIEST = 2.0**HEAVIEST_BITS
# Where counts begin. Not a plain 0: see `kernels.heap.EMPTY`.
NONE = cast(int, np.int64(0))


@kernel
def enough_below(budget: int) -> float:
    """An expected count below z that makes fewer than `budget` there negligible (Chernoff)."""
    fewer = budget - 1.0
    enough = NEGLIGIBLE
    if fewer > 0.0:
        enough += fewer + math.sqrt(2.0 * NEGLIGIBLE * fewer)
        for _ in range(2):
            excess = enough - fewer - fewer * math.log(enough / fewer) - NEGLIGIBLE
            enough -= excess / (1.0 - fewer / enough)
    # The arm that is left out may have been one of those expected.
    return enough + 1.0


@kernel
def insert_edge(edges: FloatArray, n_edges: int, edge: float) -> int:
    """Put `edge` into the ascending edges if it is among the smallest; returns how many."""
    if n_edges == edges.shape[0]:
        if not edge < edges[n_edges - 1]:
            return n_edges
        n_edges -= 1
    place = n_edges
    while place > 0 and edge < edges[place - 1]:
        edges[place] = edges[place - 1]
        place -= 1
    edges[place] = edge
    return n_edges + 1


@allocating
def integrate(
    mine: FloatArray,
    others: FloatArray,
    n_others: int,
    sums: FloatArray,
    heaviest: float,
    edges: FloatArray,
    n_edges: int,
    out: FloatArray,
) -> None:
    """out[j] = the inclusion probability of the picked arm whose scaled weight is mine[j].

    others: weights of the n_others arms that were not picked and enter one by one; those that
        have become certain are dropped from it.
    sums: (POWERS,) power sums of the weights of the arms that enter together; heaviest is a
        bound on their weights, 0 where there are none.
    edges: the n_edges smallest 1 / weight of all arms, ascending, below 1; at most the budget's
        number.
    """
    budget = mine.shape[0]
    own, integrals = np.empty(budget), np.empty(budget)
    table = np.empty((_RATIOS + POWERS + budget * (budget + 1), LANES))
    for j in range(budget):
        out[j] = 0.0
    begin = 0.0
    for certain in range(min(budget, n_edges + 1)):
        end = edges[certain] if certain < n_edges else 1.0
        if not end > begin:
            continue
        slope = sums[0]
        n_own = NONE
        for j in range(budget):
            if 1.0 / mine[j] > begin:
                own[n_own] = mine[j]
                integrals[n_own] = 0.0
                slope += mine[j]
                n_own += 1
        kept = 0
        for i in range(n_others):
            if 1.0 / others[i] > begin:
                others[kept] = others[i]
                slope += others[i]
                kept += 1
        n_others = kept
        left = budget - certain
        panels, chunks = _panels(slope * (end - begin), left)
        # A polynomial of degree 2n - 1 needs n nodes, whatever its span.
        exact = (n_own + n_others - 1) // (2 * LANES) + 1
        if heaviest == 0.0 and exact < panels * chunks and exact <= MOST_CHUNKS:
            panels, chunks = 1, exact
        width = (end - begin) / panels
        needed = 0
        if heaviest > 0.0:
            needed = _powers_needed(2.0 * heaviest * end)
        for chunk in range(panels * chunks):
            node = (chunk % chunks) * LANES
            for lane in range(LANES):
                place = chunk // chunks + NODES[chunks, node + lane]
                table[_Z, lane] = begin + width * place
                table[_SHARE, lane] = width * NODE_WEIGHTS[chunks, node + lane]
            _count_light(table, sums, needed, left)
            for i in range(n_others):
                _add_arm(table, left, others[i])
            _add_without_each(table, left, own, n_own, integrals)
        n_own = 0
        for j in range(budget):
            if 1.0 / mine[j] > begin:
                out[j] += integrals[n_own]
                n_own += 1
        begin = end
    for j in range(budget):
        out[j] = min(1.0, out[j] * mine[j])


# Rows of the table of `integrate`: the nodes, their weights, what _count_light needs, and
# P(exactly i below) for i = 0, 1, …; then, row by row, what lies behind each picked arm.
_Z, _SHARE, _SCALED, _RATIOS = 0, 1, 2, 2 + POWERS
_EXACTLY = _RATIOS + POWERS


@kernel
def _panels(span: float, left: int) -> tuple[int, int]:
    """Into how many panels of how many chunks to split a piece: those with the fewest nodes."""
    column = min(left, MOST_LEFT)
    panels, chunks = max(1, math.ceil(span / REACH[1, column])), 1
    for more in range(2, MOST_CHUNKS + 1):
        fewer = math.ceil(span / REACH[more, column])
        if fewer * more < panels * chunks:
            panels, chunks = fewer, more
    return panels, chunks


@kernel
def _powers_needed(base: float) -> int:
    """How many powers of `base`, which is below 1/3, are above 1e-17; at most POWERS."""
    return min(POWERS, 1 + int(-39.0 / math.log(max(base, 1e-300))))


@kernel
def _count_light(table: FloatArray, sums: FloatArray, needed: int, left: int) -> None:
    """P(exactly i of the arms that enter together lie below z), for i < left.

    With R_j = Σ r^j, these chances c_i obey Newton's identities
    i · c_i = Σ_j (-1)^(j - 1) c_{i - j} R_j, and c_0 = Π (1 - p).
    """
    for i in range(left):
        for lane in range(LANES):
            table[_EXACTLY + i, lane] = 1.0 if i == 0 else 0.0
    if needed == 0:
        return
    # Where c_0 would underflow, take the product's root first and its power at the end.
    parts = 1 + int(sums[0] * table[_Z, LANES - 1] / MOST_COUNT)
    for lane in range(LANES):
        power = table[_Z, lane] / parts
        logarithm = 0.0
        for k in range(needed):
            table[_SCALED + k, lane] = sums[k] * power
            logarithm += sums[k] * power / (k + 1.0)
            power *= table[_Z, lane]
        table[_EXACTLY, lane] = math.exp(-logarithm)
    n_ratios = min(needed, left - 1)
    for j in range(n_ratios):
        for lane in range(LANES):
            table[_RATIOS + j, lane] = 0.0
        for k in range(j, needed):
            factor = BINOMIAL[j, k] if j % 2 == 0 else -BINOMIAL[j, k]
            for lane in range(LANES):
                table[_RATIOS + j, lane] += factor * table[_SCALED + k, lane]
    for i in range(1, left):
        for j in range(min(i, n_ratios)):
            for lane in range(LANES):
                table[_EXACTLY + i, lane] += (
                    table[_EXACTLY + i - 1 - j, lane] * table[_RATIOS + j, lane] / i
                )
    # The rows behind are free until the picked arms are added.
    root = _EXACTLY + left
    if parts > 1:
        for i in range(left):
            for lane in range(LANES):
                table[root + i, lane] = table[_EXACTLY + i, lane]
    for _ in range(parts - 1):
        for i in range(left - 1, -1, -1):
            for lane in range(LANES):
                table[_EXACTLY + i, lane] *= table[root, lane]
            for j in range(1, i + 1):
                for lane in range(LANES):
                    table[_EXACTLY + i, lane] += (
                        table[_EXACTLY + i - j, lane] * table[root + j, lane]
                    )


@kernel
def _add_arm(table: FloatArray, left: int, weight: float) -> None:
    """Add one arm to the chances that exactly i lie below."""
    for i in range(left - 1, 0, -1):
        for lane in range(LANES):
            below = weight * table[_Z, lane]
            table[_EXACTLY + i, lane] += below * (
                table[_EXACTLY + i - 1, lane] - table[_EXACTLY + i, lane]
            )
    for lane in range(LANES):
        table[_EXACTLY, lane] *= 1.0 - weight * table[_Z, lane]


@kernel
def _add_without_each(
    table: FloatArray, left: int, own: FloatArray, n_own: int, integrals: FloatArray
) -> None:
    """integrals[j] += Σ over the nodes of P(fewer than `left` lie below z, not counting arm j)."""
    # Row first + j · left + i: P(fewer than left - i of the picked arms behind j lie below).
    first = _EXACTLY + left
    row = first + (n_own - 1) * left
    for i in range(left):
        for lane in range(LANES):
            table[row + i, lane] = 1.0
    for j in range(n_own - 1, 0, -1):
        row = first + j * left
        for i in range(left - 1):
            for lane in range(LANES):
                below = own[j] * table[_Z, lane]
                table[row - left + i, lane] = table[row + i, lane] + below * (
                    table[row + i + 1, lane] - table[row + i, lane]
                )
        for lane in range(LANES):
            table[row - 1, lane] = table[row + left - 1, lane] * (1.0 - own[j] * table[_Z, lane])
    for j in range(n_own):
        row = first + j * left
        total = 0.0
        for lane in range(LANES):
            few = 0.0
            for i in range(left):
                few += table[_EXACTLY + i, lane] * table[row + i, lane]
            total += table[_SHARE, lane] * few
        integrals[j] += total
        _add_arm(table, left, own[j])
