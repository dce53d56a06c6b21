"""What the code really promises: its exact law, and the certificate drawn from it."""
