"""Mathematics that mechanisms share: difference sets, linear programming, budgets of bits."""
