"""The command line, one file per verb: parse, call the library, print."""
