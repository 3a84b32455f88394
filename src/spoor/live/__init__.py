"""Crawls of the real web: the driver, what is done with each response, worker processes, relearning on resume."""
