"""Strategies on webs: runs, comparisons, and contests of many rows."""

from spoor.contest.comparison import Comparison, accuracy_of_judge, compare, refusal, side_by_side, workers
from spoor.contest.runs import course, crawl_of, run, visit_by_visit

__all__ = [
    "Comparison",
    "accuracy_of_judge",
    "compare",
    "course",
    "crawl_of",
    "refusal",
    "run",
    "side_by_side",
    "visit_by_visit",
    "workers",
]
