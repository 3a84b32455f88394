"""Renders pages in a real browser without network access of its own."""
