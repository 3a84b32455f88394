"""Crawls without a network: recorded and generated webs, simulated drivers, measures, contests, papers."""
