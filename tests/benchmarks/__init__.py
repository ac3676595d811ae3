"""Figures: scripts that are run by nox, not by pytest."""
