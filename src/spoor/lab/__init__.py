"""Crawls without a network: recorded and generated webs, simulated drivers, contests, and the papers' experiments."""
