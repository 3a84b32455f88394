"""The one place where names become objects: strategies, judges and their parameters."""

from __future__ import annotations

from spoor.judging.judges import JUDGES, TARGETS, judge, judge_of
from spoor.naming import Named
from spoor.ordering.strategies import ORACLES, STRATEGIES, Level, strategy, strategy_named

__all__ = [
    "JUDGES",
    "ORACLES",
    "STRATEGIES",
    "TARGETS",
    "Level",
    "Named",
    "judge",
    "judge_of",
    "strategy",
    "strategy_named",
]
