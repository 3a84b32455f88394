"""Links to places in the queue: one scorer, one file."""
