"""Inputs that nobody would write, by the million: `python -m tests.fuzz --help`."""
