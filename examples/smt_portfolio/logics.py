"""SMT-LIB problems of ten logics, from a seed: the stream that the example solves.

Every family is one function of a random generator to the commands between `set-logic` and
`check-sat`. Sizes were chosen so that most solvers need between a hundredth of a second and the
deadline, and so that what is easy for one is hard for another.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import gcd

Script = list[str]


def constants(names: Iterable[str], sort: str) -> Script:
    return [f"(declare-fun {name} () {sort})" for name in names]


def asserted(*formulas: str) -> Script:
    return [f"(assert {formula})" for formula in formulas]


def number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def linear(coefficients: Sequence[int], names: Sequence[str]) -> str:
    terms = [f"(* {number(c)} {x})" for c, x in zip(coefficients, names, strict=True) if c]
    return f"(+ {' '.join(terms)})" if len(terms) > 1 else (terms or ["0"])[0]


def bits(value: int, width: int) -> str:
    return f"(_ bv{value % (1 << width)} {width})"


def qf_bv(rng: random.Random) -> Script:
    """Factoring, laws of arithmetic that rewriting proves and bit-blasting does not, mixing."""
    return rng.choice([_bv_factors, _bv_law, _bv_mixing])(rng)


def _bv_factors(rng: random.Random) -> Script:
    half = rng.randint(13, 19)
    product = _prime(rng, half) * _prime(rng, half)
    wide = [f"((_ zero_extend {half}) {x})" for x in "xy"]
    one = bits(1, half)
    return constants("xy", f"(_ BitVec {half})") + asserted(
        f"(= (bvmul {wide[0]} {wide[1]}) {bits(product, 2 * half)})",
        f"(bvult {one} x)",
        "(bvule x y)",
    )


def _bv_law(rng: random.Random) -> Script:
    width = rng.randint(6, 14)
    left, right = rng.choice(
        [
            ("(bvmul x (bvadd y z))", "(bvadd (bvmul x y) (bvmul x z))"),
            ("(bvmul x (bvmul y z))", "(bvmul z (bvmul y x))"),
            ("(bvmul (bvadd x y) (bvsub x y))", "(bvsub (bvmul x x) (bvmul y y))"),
            ("(bvadd (bvmul (bvudiv x y) y) (bvurem x y))", "x"),
            ("(bvsub (bvadd x y) (bvand x y))", "(bvor x y)"),
            ("(bvadd (bvxor x y) (bvshl (bvand x y) " + bits(1, width) + "))", "(bvadd y x)"),
        ]
    )
    return constants("xyz", f"(_ BitVec {width})") + asserted(f"(distinct {left} {right})")


def _bv_mixing(rng: random.Random) -> Script:
    """Which word does this mixing function turn into the given one?"""
    width, rounds = rng.randint(10, 20), rng.randint(2, 4)
    script = constants((f"x{k}" for k in range(rounds + 1)), f"(_ BitVec {width})")
    value, mask = rng.getrandbits(width), (1 << width) - 1
    for k in range(rounds):
        shift, add = rng.randint(3, width // 2), rng.getrandbits(width)
        value = (value * value + (value >> shift ^ add)) & mask
        shifted = f"(bvxor (bvlshr x{k} {bits(shift, width)}) {bits(add, width)})"
        script += asserted(f"(= x{k + 1} (bvadd (bvmul x{k} x{k}) {shifted}))")
    return script + asserted(f"(= x{rounds} {bits(value, width)})")


def qf_abv(rng: random.Random) -> Script:
    """Cells of a memory swapped in two orders; the memories are the same, or one swap is wrong."""
    cells, width = rng.randint(5, 10), 8
    names = [f"i{k}" for k in range(cells)]
    swaps = [tuple(rng.sample(names, 2)) for _ in range(rng.randint(5, 11))]
    script = constants(names, f"(_ BitVec {width})")
    script += constants(["m0", "n0"], f"(Array (_ BitVec {width}) (_ BitVec 8))")
    script += asserted("(= m0 n0)")
    for k, (a, b) in enumerate(swaps):
        script += _swap("m", k, a, b)
    for k, (a, b) in enumerate(swaps):
        script += _swap("n", k, b, a)
    last = len(swaps)
    if rng.random() < 0.35:
        script += _swap("n", last, *rng.sample(names, 2))
        return script + asserted(f"(distinct m{last} n{last + 1})")
    return script + asserted(f"(distinct m{last} n{last})")


def _swap(memory: str, k: int, a: str, b: str) -> Script:
    old, new = f"{memory}{k}", f"{memory}{k + 1}"
    value = f"(store (store {old} {a} (select {old} {b})) {b} (select {old} {a}))"
    sort = "(Array (_ BitVec 8) (_ BitVec 8))"
    return [*constants([new], sort), *asserted(f"(= {new} {value})")]


def qf_lia(rng: random.Random) -> Script:
    """Equations over small integers: a knapsack in several dimensions, perhaps with a solution."""
    unknowns, equations = rng.randint(7, 13), rng.randint(2, 3)
    names = [f"x{k}" for k in range(unknowns)]
    script = constants(names, "Int") + asserted(*(f"(<= 0 {x} {rng.randint(1, 9)})" for x in names))
    for _ in range(equations):
        coefficients = [rng.randint(-40, 60) for _ in names]
        target = sum(c * rng.randint(0, 5) for c in coefficients)
        script += asserted(f"(= {linear(coefficients, names)} {number(target)})")
    return script


def qf_idl(rng: random.Random) -> Script:
    """A job shop: every job visits the machines in its own order; is there a short schedule?"""
    jobs, machines = rng.randint(7, 11), rng.randint(5, 9)
    routes = [rng.sample(range(machines), machines) for _ in range(jobs)]
    takes = [[rng.randint(1, 12) for _ in range(machines)] for _ in range(jobs)]
    longest = max(sum(row) for row in takes)
    loads = [sum(takes[j][routes[j].index(m)] for j in range(jobs)) for m in range(machines)]
    horizon = round(max(longest, *loads) * rng.uniform(1.02, 1.3))
    script = constants(
        ["zero", *(f"s{j}_{m}" for j in range(jobs) for m in range(machines))], "Int"
    )
    for j, route in enumerate(routes):
        script += asserted(f"(>= (- s{j}_{route[0]} zero) 0)")
        for k, machine in enumerate(route):
            after = f"s{j}_{route[k + 1]}" if k + 1 < machines else None
            if after:
                script += asserted(f"(>= (- {after} s{j}_{machine}) {takes[j][k]})")
            else:
                script += asserted(f"(<= (- s{j}_{machine} zero) {number(horizon - takes[j][k])})")
    for machine in range(machines):
        for i, j in combinations(range(jobs), 2):
            first, second = (f"s{job}_{machine}" for job in (i, j))
            ti, tj = (takes[job][routes[job].index(machine)] for job in (i, j))
            script += asserted(
                f"(or (>= (- {second} {first}) {ti}) (>= (- {first} {second}) {tj}))"
            )
    return script


def qf_lra(rng: random.Random) -> Script:
    """Random clauses whose literals are random half-spaces, near where they become impossible."""
    unknowns = rng.randint(6, 12)
    names = [f"x{k}" for k in range(unknowns)]

    def half_space() -> str:
        chosen = rng.sample(range(unknowns), 3)
        coefficients = [rng.randint(-9, 9) if k in chosen else 0 for k in range(unknowns)]
        relation = rng.choice(["<=", ">=", "<", ">"])
        return f"({relation} {linear(coefficients, names)} {number(rng.randint(-60, 60))})"

    clauses = round(unknowns * rng.uniform(3.0, 6.5))
    script = constants(names, "Real")
    return script + asserted(
        *(
            f"(or {' '.join(half_space() for _ in range(rng.choice([2, 3, 3])))})"
            for _ in range(clauses)
        )
    )


def qf_uf(rng: random.Random) -> Script:
    """Chains of equal diamonds, pigeons in a sort, or tables of a binary operation."""
    return rng.choice([_uf_diamonds, _uf_pigeons, _uf_operation])(rng)


def _uf_diamonds(rng: random.Random) -> Script:
    length = rng.randint(60, 900)
    names = [f"{kind}{k}" for k in range(length + 1) for kind in "xyz"]
    script = ["(declare-sort U 0)", *constants(names, "U")]
    for k in range(length):
        ways = [f"(and (= x{k} {way}{k}) (= {way}{k} x{k + 1}))" for way in "yz"]
        script += asserted(f"(or {' '.join(ways)})")
    return script + asserted(f"(not (= x0 x{length}))")


def _uf_pigeons(rng: random.Random) -> Script:
    holes = rng.randint(8, 12)
    pigeons = holes + rng.choice([0, 1, 1])
    homes, birds = [f"h{k}" for k in range(holes)], [f"p{k}" for k in range(pigeons)]
    script = ["(declare-sort U 0)", "(declare-fun f (U) U)", *constants(homes + birds, "U")]
    script += asserted(f"(distinct {' '.join(f'(f {bird})' for bird in birds)})")
    sits = (f"(or {' '.join(f'(= (f {bird}) {home})' for home in homes)})" for bird in birds)
    return script + asserted(*sits)


def _uf_operation(rng: random.Random) -> Script:
    """A quasigroup of this order with idempotence and some given products."""
    order = rng.randint(5, 9)
    elements = [f"e{k}" for k in range(order)]
    script = ["(declare-sort U 0)", "(declare-fun op (U U) U)", *constants(elements, "U")]
    script += asserted(f"(distinct {' '.join(elements)})")
    for a in elements:
        for b in elements:
            script += asserted(f"(or {' '.join(f'(= (op {a} {b}) {c})' for c in elements)})")
        for one, other in combinations(elements, 2):
            script += asserted(
                f"(not (= (op {a} {one}) (op {a} {other})))",
                f"(not (= (op {one} {a}) (op {other} {a})))",
            )
        script += asserted(f"(= (op {a} {a}) {a})")
    law = rng.choice(["(op (op {b} {a}) {b})", "(op {b} (op {b} {a}))", "(op (op {a} {b}) {b})"])
    pairs = ((a, b) for a in elements for b in elements)
    return script + asserted(*(f"(= {law.format(a=a, b=b)} {a})" for a, b in pairs))


def qf_nia(rng: random.Random) -> Script:
    """Sums of cubes and products within bounds: many have an answer, some have none."""
    bound = rng.randint(6, 60)
    names = ["x", "y", "z"]
    script = constants(names, "Int") + asserted(*(f"(<= 1 {x} {bound})" for x in names))
    x, y, z = (rng.randint(1, bound) for _ in names)
    noise = rng.choice([0, 0, 1, 2])
    kind = rng.randrange(4)
    if kind == 0:
        total = x**3 + y**3 + z**3 + noise
        return script + asserted(f"(= (+ (* x x x) (* y y y) (* z z z)) {total})")
    if kind == 1:
        return script + asserted(
            f"(= (+ (* x y) (* y z)) {x * y + y * z + noise})", f"(= (* x z) {x * z + noise})"
        )
    if kind == 2:
        return script + asserted(
            f"(= (* x x) (+ (* {rng.choice([2, 3, 5, 7])} y y) {number(rng.choice([1, -1, 4]))}))",
            f"(> x {bound // rng.choice([2, 4, 10])})",
        )
    return script + asserted("(= (+ (* x x) (* y y)) (* z z))", "(< x y)", f"(> (+ x y z) {bound})")


def lia(rng: random.Random) -> Script:
    """Quantified: which amounts cannot be paid with coins of these values? (Frobenius)"""
    while True:
        coins = rng.sample(range(3, rng.choice([6, 8, 12])), 2)
        if gcd(*coins) == 1:
            break
    largest = coins[0] * coins[1] - sum(coins)
    over = rng.choice([-1, -1, 0])
    paid = linear(coins, ["a", "b"])
    return constants(["n"], "Int") + asserted(
        f"(> n {number(largest + over)})",
        f"(forall ((a Int) (b Int)) (=> (and (>= a 0) (>= b 0)) (not (= {paid} n))))",
    )


def uflia(rng: random.Random) -> Script:
    """Quantified functions: a rising one rises so much, or one with this period comes back."""
    steps = rng.randint(4, 40)
    slope = rng.randint(1, 5)
    script = ["(declare-fun f (Int) Int)"]
    if rng.random() < 0.5:
        script += asserted(
            f"(forall ((x Int)) (! (>= (f (+ x 1)) (+ (f x) {slope})) :pattern ((f x))))"
        )
        return script + asserted(f"(< (f {steps}) (+ (f 0) {slope * steps}))")
    period = rng.randint(2, 6)
    script += asserted(f"(forall ((x Int)) (= (f (+ x {period})) (f x)))")
    return script + asserted(f"(not (= (f 0) (f {period * steps})))")


def qf_slia(rng: random.Random) -> Script:
    """Words: an equation between concatenations, with lengths and a forbidden part."""
    secret = "".join(rng.choice("ab") for _ in range(rng.randint(8, 30)))
    cut = sorted(rng.sample(range(1, len(secret)), 3))
    parts = [secret[i:j] for i, j in zip([0, *cut], [*cut, len(secret)], strict=True)]
    script = constants("wxyz", "String")
    script += asserted(f'(= (str.++ w x y z) "{secret}")')
    script += asserted(f"(= (str.len w) (+ (str.len z) {number(len(parts[0]) - len(parts[3]))}))")
    script += asserted("(= (str.++ x y) (str.++ y x))" if rng.random() < 0.5 else "(distinct x y)")
    script += asserted(f'(not (str.contains x "{rng.choice(["aa", "ab", "bab", "abba"])}"))')
    if rng.random() < 0.5:
        script += asserted(f'(str.prefixof "{rng.choice("ab") * 2}" y)')
    return script + asserted("(> (str.len x) 1)", "(> (str.len y) 1)")


def _prime(rng: random.Random, size: int) -> int:
    while True:
        value = rng.randrange(2 ** (size - 1) + 1, 2**size, 2)
        if all(value % d for d in range(3, int(value**0.5) + 1, 2)):
            return value


LOGICS: dict[str, Callable[[random.Random], Script]] = {
    "QF_BV": qf_bv,
    "QF_ABV": qf_abv,
    "QF_LIA": qf_lia,
    "QF_IDL": qf_idl,
    "QF_LRA": qf_lra,
    "QF_UF": qf_uf,
    "QF_NIA": qf_nia,
    "LIA": lia,
    "UFLIA": uflia,
    "QF_SLIA": qf_slia,
}


def stream(count: int, seed: int) -> list[tuple[str, str]]:
    """(name, SMT-LIB script) of so many problems, logics mixed at random."""
    problems = []
    for place in range(count):
        rng = random.Random(f"{seed} {place}")
        logic = rng.choice(list(LOGICS))
        lines = [f"(set-logic {logic})", *LOGICS[logic](rng), "(check-sat)", "(exit)"]
        problems.append((f"{place:03}-{logic}", "\n".join(lines) + "\n"))
    return problems
