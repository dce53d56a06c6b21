"""The tests, and the commands that check golden values and test vectors."""
