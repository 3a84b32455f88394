"""The experiments of the papers, run again: one module for each paper, and what they share in `experiment`."""
