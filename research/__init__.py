"""Research: five reproduced papers, experiments and contests. Never part of a wheel."""
