"""The one place where names become objects: strategies, judges and their parameters."""

from spoor.assembly.judges import JUDGES, TARGETS, judge, judge_of
from spoor.assembly.naming import Named
from spoor.assembly.strategies import ORACLES, STRATEGIES, Level, strategy, strategy_named

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
