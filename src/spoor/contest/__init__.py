"""Strategies on webs: runs, comparisons, and contests of many rows."""

from spoor.contest.comparison import Comparison, accuracy_of_judge, compare, compared, refusal, side_by_side, workers
from spoor.contest.runs import course, run, score, scored, visit_by_visit

__all__ = [
    "Comparison",
    "accuracy_of_judge",
    "compare",
    "compared",
    "course",
    "refusal",
    "run",
    "score",
    "scored",
    "side_by_side",
    "visit_by_visit",
    "workers",
]
