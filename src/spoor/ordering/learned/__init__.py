"""The strategy that learns on the way: what a link says, what led to relevant pages before, and where."""
