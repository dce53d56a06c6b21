"""Bit-aware randomized response for local differential privacy in federated learning (BitRand; under review in 2022)."""
