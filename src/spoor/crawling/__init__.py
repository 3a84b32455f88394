"""The parts of the crawl: robots.txt, scoring, selection, failures, outages, actions of persons, other shards."""
