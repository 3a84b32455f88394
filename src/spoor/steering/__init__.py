"""Steering a crawl from outside: actions reach its folder, and are done exactly once."""
