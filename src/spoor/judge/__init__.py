"""Pages to verdicts: one judge, one file."""
