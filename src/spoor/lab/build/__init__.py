"""From recordings to a web on disk: sources yield what was recorded, the builder gathers, resolves and writes it."""
