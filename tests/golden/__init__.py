"""Golden values: numbers found by brute force, independent of our formulas, and the code that evaluates them here.

`python -m tests.golden FILE...` lists every entry that differs and every kind of entry that we cannot evaluate yet.
"""
