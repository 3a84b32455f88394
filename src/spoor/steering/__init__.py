"""Steering a crawl from outside: actions are delivered to its folder and applied exactly once."""
