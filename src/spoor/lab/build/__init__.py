"""Builds a web on disk from recordings: sources yield records; the builder gathers them, resolves links and writes the
files."""
