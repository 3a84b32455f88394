"""A crawl on disk: its folder, the archive of what came, the journal of what happened, and what was seen before."""
