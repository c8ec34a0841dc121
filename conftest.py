"""Tests compile kernels into a cache of their own, keyed by the sources that kernels come from.

Numba looks only at the file of the outermost function to decide whether cached machine code
is fresh; this makes sure that a change in any function that it calls counts. `mutants.py` keeps
track of that by itself.
"""

import hashlib
import os
from pathlib import Path

_ROOT = Path(__file__).parent
_COMPILED_ROOMS = ("kernels", "learners", "hindsight", "submodular")
_digest = hashlib.sha256()
for _room in _COMPILED_ROOMS:
    for _source in sorted((_ROOT / "src" / "pickbest" / _room).rglob("*.py")):
        _digest.update(_source.read_bytes())
os.environ["NUMBA_CACHE_DIR"] = os.environ.get("PICKBEST_TEST_CACHE") or str(
    _ROOT / ".cache" / "numba" / _digest.hexdigest()[:16]
)
