"""Tests compile kernels into a cache of their own, keyed by the sources that kernels come from.

Numba looks only at the file of the outermost function to decide whether cached machine code
is fresh; this makes sure that a change in any function that it calls counts.
"""

import hashlib
import os
import signal
from pathlib import Path

# A shell that starts tests in the background ignores Ctrl-C for them, and what they start inherits
# that; tests of Ctrl-C need it.
signal.signal(signal.SIGINT, signal.default_int_handler)

_ROOT = Path(__file__).parent
_COMPILED_ROOMS = ("kernels", "learners", "hindsight", "submodular")
_digest = hashlib.sha256()
for _room in _COMPILED_ROOMS:
    for _source in sorted((_ROOT / "src" / "pickbest" / _room).rglob("*.py")):
        _digest.update(_source.read_bytes())
os.environ["NUMBA_CACHE_DIR"] = str(_ROOT / ".cache" / "numba" / _digest.hexdigest()[:16])
