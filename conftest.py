"""Tests compile kernels into a cache of their own, keyed by the kernels' sources.

Numba looks only at the file of the outermost function to decide whether cached machine code
is fresh; this makes sure that a change in any kernel counts.
"""

import hashlib
import os
from pathlib import Path

_ROOT = Path(__file__).parent
_digest = hashlib.sha256()
for _source in sorted((_ROOT / "src" / "pickbest" / "kernels").glob("*.py")):
    _digest.update(_source.read_bytes())
os.environ["NUMBA_CACHE_DIR"] = str(_ROOT / ".cache" / "numba" / _digest.hexdigest()[:16])
