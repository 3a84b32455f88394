"""Webs that can be crawled without a network: recorded or generated, built once, opened in an instant."""
