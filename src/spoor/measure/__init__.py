"""Events to numbers, numbers to pictures."""
