"""So that `python -m deniable` is the command line too."""

from deniable.cli import run

if __name__ == "__main__":
    run()
