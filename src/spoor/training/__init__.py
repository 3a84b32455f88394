"""Models of topics, trained from pages at hand."""
