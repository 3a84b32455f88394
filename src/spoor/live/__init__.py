"""A crawl of the real web: its driver, the reading of pages, worker processes, and relearning on resume."""
