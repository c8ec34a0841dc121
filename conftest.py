"""Tests keep compiled code in a folder of their own."""

import os
import signal
from pathlib import Path

# A shell that starts tests in the background ignores Ctrl-C for them, and what they start inherits
# that; tests of Ctrl-C need it.
signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ["PICKBEST_CACHE"] = str(Path(__file__).parent / ".cache" / "pickbest")
