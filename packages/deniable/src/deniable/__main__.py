"""So that `python -m deniable` is the command line too."""

from deniable.cli.main import main

if __name__ == "__main__":
    main(prog_name="deniable")
