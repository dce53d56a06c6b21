"""The kinds of questions, one per file; `registry` finds them by name."""
