"""What the crawl decides by: robots.txt, scores, turns, failures, outages, what persons and other shards ask for."""
