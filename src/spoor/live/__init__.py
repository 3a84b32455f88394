"""Crawls of the real web: the driver, the processing of responses, worker processes, relearning on resume."""
