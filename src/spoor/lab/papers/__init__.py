"""Reproductions of experiments from papers: one module for each paper; shared code is in `experiment`."""
