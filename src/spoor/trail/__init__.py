"""What a path remembers: one kind of memory, one file."""
