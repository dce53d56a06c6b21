"""The laboratory: five papers made anew, experiments and contests. Never part of a wheel."""
