"""The command line: one file per verb, which parses, calls the library and prints."""

import sys


def run() -> None:
    """Run the command line. Ctrl-C ends it without a traceback, even while it is still loading."""
    try:
        from deniable.cli.main import main

        main(prog_name="deniable")
    except KeyboardInterrupt:
        sys.stderr.write("Aborted!\n")
        raise SystemExit(130) from None
