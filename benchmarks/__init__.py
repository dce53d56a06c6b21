"""How fast deniable is, beside its peers and beside what the hardware allows."""
