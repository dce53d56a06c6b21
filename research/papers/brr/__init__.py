"""Zhang, Zhu, Chen, Hu, Bipartite randomized response mechanism for local differential privacy, 2025 (BRR)."""
