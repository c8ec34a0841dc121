"""`python -m pickbest`: the command line."""

from pickbest.cli.start import main

if __name__ == "__main__":
    main()
