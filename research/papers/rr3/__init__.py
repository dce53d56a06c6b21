"""Ma, Wang, Randomized response mechanisms for differential privacy data analysis: bounds and applications, 2021 (RR3)."""
