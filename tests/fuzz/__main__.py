"""`python -m tests.fuzz`: see `run`, which worker processes import."""

from tests.fuzz.run import main

if __name__ == "__main__":
    main()
