"""`python -m pickbest.cli`."""

from pickbest.cli.main import main

if __name__ == "__main__":
    main()
