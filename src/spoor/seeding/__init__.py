"""Seeds from the result lists of several search sources."""
