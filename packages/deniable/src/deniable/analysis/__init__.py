"""How answers hang together: cross-tables, tests, comparisons, regression and synthetic rows from randomized reports."""
