"""Where `pickbest` begins: `pickbest solve` does not wait for what the other commands need."""

import gc
import sys

# Imports make many objects that stay, and every 700 new ones all young ones are looked through.
COLLECT_AFTER = 50_000


def main() -> None:
    """Run the command line."""
    gc.set_threshold(COLLECT_AFTER)
    if sys.argv[1:2] == ["solve"]:
        from pickbest.cli.solve import main as solve

        sys.exit(solve(sys.argv[2:]))
    from pickbest.cli.main import main as others

    others()
