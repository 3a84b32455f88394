"""The only code that knows what time it is."""
