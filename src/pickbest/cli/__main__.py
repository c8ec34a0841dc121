"""`python -m pickbest.cli`."""

from pickbest.cli.start import main

if __name__ == "__main__":
    main()
