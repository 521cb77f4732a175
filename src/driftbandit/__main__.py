"""`python -m driftbandit`: the command line where it is not installed."""

from driftbandit.cli import main

if __name__ == "__main__":
    main()
