"""Published protocols that are compared with ours: triangle counts of graphs, and other encodings of sparse vectors."""
