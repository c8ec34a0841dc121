"""Small SAT formulas of mixed families, from a seed: the stream that the example solves."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations, product

Clauses = list[list[int]]


def random_3sat(rng: random.Random) -> Clauses:
    """Random 3-SAT near the threshold of 4.26 clauses a variable: half of them satisfiable."""
    variables = rng.randint(160, 220)
    return [
        [v if rng.random() < 0.5 else -v for v in rng.sample(range(1, variables + 1), 3)]
        for _ in range(round(4.26 * variables))
    ]


def pigeonhole(rng: random.Random) -> Clauses:
    """n + 1 pigeons in n holes, names shuffled: unsatisfiable, and hard for resolution."""
    holes = rng.choice([6, 7, 8, 8, 9])
    pigeons = holes + 1
    names = list(range(1, pigeons * holes + 1))
    rng.shuffle(names)

    def sits(pigeon: int, hole: int) -> int:
        return names[pigeon * holes + hole]

    clauses = [[sits(p, h) for h in range(holes)] for p in range(pigeons)]
    for hole in range(holes):
        clauses += [[-sits(p, hole), -sits(q, hole)] for p, q in combinations(range(pigeons), 2)]
    rng.shuffle(clauses)
    return clauses


def parity(rng: random.Random) -> Clauses:
    """Tseitin's formulas: bits on the edges of a random graph, a parity at every vertex.

    The parities cannot all hold if their sum is odd. Easy for Gauss, hard for resolution.
    """
    vertices = rng.randint(14, 34)
    stubs = [vertex for vertex in range(vertices) for _ in range(4)]
    while True:
        rng.shuffle(stubs)
        edges = list(zip(stubs[::2], stubs[1::2], strict=True))
        if all(u != v for u, v in edges):
            break
    odd = [rng.randint(0, 1) for _ in range(vertices)]
    if sum(odd) % 2 == 0 and rng.random() < 0.7:
        odd[0] = 1 - odd[0]
    return [
        clause
        for vertex in range(vertices)
        for clause in _xor([e + 1 for e, ends in enumerate(edges) if vertex in ends], odd[vertex])
    ]


def _xor(chosen: list[int], odd: int) -> Clauses:
    """Forbid every assignment of the wrong parity."""
    return [
        [-v if bit else v for v, bit in zip(chosen, bits, strict=True)]
        for bits in product((0, 1), repeat=len(chosen))
        if sum(bits) % 2 != odd
    ]


def colouring(rng: random.Random) -> Clauses:
    """Colour a random graph, close to where that becomes impossible."""
    colours, vertices = rng.choice([(3, rng.randint(400, 600)), (4, rng.randint(120, 160))])
    degree = {3: 4.65, 4: 8.6}[colours] * rng.uniform(0.96, 1.03)
    edges: set[tuple[int, int]] = set()
    while len(edges) < round(vertices * degree / 2):
        first, second = sorted(rng.sample(range(vertices), 2))
        edges.add((first, second))

    def has(vertex: int, colour: int) -> int:
        return vertex * colours + colour + 1

    clauses = [[has(v, c) for c in range(colours)] for v in range(vertices)]
    clauses += [[-has(u, c), -has(v, c)] for u, v in sorted(edges) for c in range(colours)]
    return clauses


def factoring(rng: random.Random) -> Clauses:
    """Which two numbers have this product? A multiplier circuit, read backwards."""
    bits = rng.randint(14, 19)
    first, second = _prime(rng, bits), _prime(rng, bits)
    return multiplier(first * second, bits)


def _prime(rng: random.Random, bits: int) -> int:
    while True:
        number = rng.randrange(2 ** (bits - 1) + 1, 2**bits, 2)
        if all(number % d for d in range(3, int(number**0.5) + 1, 2)):
            return number


def multiplier(number: int, bits: int) -> Clauses:
    """Clauses that two numbers of so many bits, neither 1, multiply to `number`."""
    clauses: Clauses = []
    last = 2 * bits

    def fresh() -> int:
        nonlocal last
        last += 1
        return last

    def both(a: int, b: int) -> int:
        c = fresh()
        clauses.extend([[-a, -b, c], [a, -c], [b, -c]])
        return c

    def add(a: int, b: int, c: int) -> tuple[int, int]:
        """Sum and carry of three bits."""
        total, carry = fresh(), fresh()
        for x, y, z in product((0, 1), repeat=3):
            wrong = [-v if bit else v for v, bit in ((a, x), (b, y), (c, z))]
            clauses.append([*wrong, total if (x + y + z) % 2 else -total])
            clauses.append([*wrong, carry if x + y + z >= 2 else -carry])
        return total, carry

    zero = fresh()
    clauses.append([-zero])
    one, other = range(1, bits + 1), range(bits + 1, 2 * bits + 1)
    columns: list[list[int]] = [[] for _ in range(2 * bits + 1)]
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            columns[i + j].append(both(a, b))
    for place in range(2 * bits):
        column = columns[place]
        while len(column) > 1:
            a, b = column.pop(), column.pop()
            total, carry = add(a, b, column.pop() if column else zero)
            column.append(total)
            columns[place + 1].append(carry)
        result = column[0] if column else zero
        clauses.append([result if number >> place & 1 else -result])
    clauses += [list(one)[1:], list(other)[1:]]
    return clauses


FAMILIES: dict[str, Callable[[random.Random], Clauses]] = {
    "random 3-SAT": random_3sat,
    "pigeonhole": pigeonhole,
    "parity": parity,
    "colouring": colouring,
    "factoring": factoring,
}


def stream(count: int, seed: int) -> list[tuple[str, Clauses]]:
    """(name, clauses) of so many problems, families mixed at random."""
    problems = []
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        family = rng.choice(list(FAMILIES))
        problems.append((f"{number:03} {family}", FAMILIES[family](rng)))
    return problems
