"""A web to try a crawler on: drawn from a seed, served on this machine, gone afterwards; no crawling here."""
