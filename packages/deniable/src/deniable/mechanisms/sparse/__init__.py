"""What compressed randomized response is made of: shared draws, their encoder, the law of what is sent, codes, decoders."""
