"""The experiments of the papers, run again: one paper, one file."""
