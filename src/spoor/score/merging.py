"""What becomes of one evidence when a waiting link is met again. `max` and `min` are Python's own."""


def first(old: float, new: float) -> float:
    """The first sighting counts."""
    return old


def total(old: float, new: float) -> float:
    """Every sighting adds."""
    return old + new


def clearest(old: float, new: float) -> float:
    """The sighting farther from 0 counts, whether for or against."""
    return new if abs(new) > abs(old) else old


def latest(old: float, new: float) -> float:
    """The last sighting counts."""
    return new
