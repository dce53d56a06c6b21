"""A relay that mixes reports: it cannot read them, and whoever counts them cannot see who sent which."""

from deniable.mixing.losses import BothLosses, mixed_losses
from deniable.mixing.sealing import Opener, Terms, make_terms
from deniable.mixing.sending import mix_sender

__all__ = ["BothLosses", "Opener", "Terms", "make_terms", "mix_sender", "mixed_losses"]
