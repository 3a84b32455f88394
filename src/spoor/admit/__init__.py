"""Which links may wait and which may be visited: one rule, one file."""
