"""The strategy that learns on the way: what a link says, what led to wanted pages before, and where they were found."""

from spoor.score.learned.learned import WITHOUT, Learned

__all__ = ["WITHOUT", "Learned"]
