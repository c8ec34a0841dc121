"""Where `pickbest` begins: `pickbest solve` does not wait for what the other commands need."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    if sys.argv[1:2] == ["solve"]:
        from pickbest.cli.solve import main as solve

        sys.exit(solve(sys.argv[2:]))
    from pickbest.cli.main import main as others

    others()
