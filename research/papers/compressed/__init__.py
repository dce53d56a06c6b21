"""Hillebrand, Suppakitpaisarn, Shibuya, Communication-efficient publication of sparse vectors under differential privacy."""
