"""The other Python libraries of local differential privacy, measured in an environment of their own."""
