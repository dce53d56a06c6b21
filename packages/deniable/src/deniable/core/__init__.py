"""The types that everything else is made of; no files, sockets, clock or global randomness."""
