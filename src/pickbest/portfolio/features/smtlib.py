"""Cheap features of an SMT-LIB script: its logic, and how often symbols occur."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from pickbest.core.features import Feature
from pickbest.portfolio.features.reading import chunks, place_of

# What is counted: commands, binders, and operators that tell theories apart.
COUNTED = """
    assert check-sat declare-fun declare-const declare-datatypes define-fun push forall exists let
    ite and or not => = distinct + - * / div mod <= < >= > select store bvadd bvmul bvudiv bvshl
    concat extract bvult bvslt fp.add fp.mul fp.div to_fp str.++ str.len re.* Int Real Bool Array
"""
SYMBOL = re.compile(rb"[A-Za-z0-9_.+*/<>=-]{1,40}")
LOGIC = re.compile(rb"\(\s*set-logic\s+([A-Za-z0-9_]{1,40})")


def smtlib(path: Path, until: float) -> dict[str, Feature]:
    """Counts are shares of all symbols that were read until then."""
    counts: Counter[bytes] = Counter()
    logic, opened, symbols = None, 0, 0
    for number, chunk in enumerate(chunks(path, until)):
        if number == 0 and (found := LOGIC.search(chunk)):
            logic = found[1].decode("ascii")
        words = SYMBOL.findall(chunk)
        counts.update(words)
        symbols += len(words)
        opened += chunk.count(b"(")
    return {
        **place_of(path),
        "logic": logic,
        "symbols": symbols,
        "different": len(counts),
        "terms_per_symbol": opened / symbols if symbols else None,
        **{
            f"{name} share": counts[name.encode()] / symbols if symbols else None
            for name in COUNTED.split()
        },
    }
