"""Where `pickbest` and `python -m pickbest` begin."""

import sys


def main() -> None:
    """Run the command line. `solve` waits for none of what the other commands import."""
    try:
        if sys.argv[1:2] == ["solve"]:
            from pickbest.cli.solve import main as solve

            sys.exit(solve(sys.argv[2:]))
        from pickbest.cli.main import main as others

        others()
    except KeyboardInterrupt:  # while it imports, too
        sys.stderr.write("interrupted\n")
        sys.exit(130)
