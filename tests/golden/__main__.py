"""`python -m tests.golden FILE...`: exit 0 only if every entry of every file was evaluated and agrees."""

import sys
from pathlib import Path

from tests.golden.compare import compare


def main(names: list[str]) -> int:
    if not names:
        print("usage: python -m tests.golden FILE...", file=sys.stderr)
        return 2
    good = True
    for name in names:
        outcome = compare(Path(name))
        for difference in outcome.differences:
            print(difference)
        for kind, entries in outcome.unknown.items():
            print(f"unknown kind {kind!r}: {entries} entries")
        unknown = sum(outcome.unknown.values())
        print(f"{name}: {outcome.agreed} agree, {len(outcome.differences)} differ, {unknown} of unknown kind")
        good &= outcome.good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
