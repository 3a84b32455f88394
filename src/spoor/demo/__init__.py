"""A web to try a crawler on: generated from a seed, served on this machine, not stored; no crawling here."""
