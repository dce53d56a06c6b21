"""One person, one report: invitations become tokens by blind signatures, so that nobody can tell whose report it was."""
