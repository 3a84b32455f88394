"""How well strategies must do on pinned webs. `python -m tests.floors` raises the floors to what is measured now.

A floor may rise by itself; it is lowered only by hand, on purpose, with a word in the commit.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.measures import measure
from spoor.lab.runs import run
from spoor.lab.task import PreparedTask, Task, read_seeds

FLOORS = Path(__file__).with_name("floors.json")
WEBS = {
    "thai": (Request("thai", 4_000, 11), "charset:th"),
    "mongolian": (Request("mongolian", 4_000, 12), "truth"),
    "topical": (Request("topical", 2_000, 13), "truth"),
    "courses": (Request("courses", 1_000, 14), "truth"),
}
STRATEGIES = (
    "learned",
    "soft-focused",
    "hard-focused",
    "prioritised-limited-distance:n=2",
    "in-links",
    "greedy-oracle",
)


def measured(web: str, folder: Path) -> dict[str, float]:
    """The normalised area of each strategy on one pinned web."""
    request, judge = WEBS[web]
    generate(request, folder / web, lambda pages: None)
    task = Task(folder / web, "relevant", read_seeds(folder / web / "seeds.txt"), judge)
    against = PreparedTask(task).yardstick
    ceiling = measure("oracle", run(task, "oracle"), against).area
    areas = {strategy: measure(strategy, run(task, strategy), against).area for strategy in STRATEGIES}
    return {strategy: round(area / ceiling, 4) for strategy, area in areas.items()}


def raise_floors() -> None:
    floors: dict[str, dict[str, float]] = json.loads(FLOORS.read_text()) if FLOORS.exists() else {}
    with tempfile.TemporaryDirectory() as scratch:
        for web in WEBS:
            known = floors.setdefault(web, {})
            for strategy, value in measured(web, Path(scratch)).items():
                known[strategy] = max(value, known.get(strategy, 0.0))
    FLOORS.write_text(json.dumps(floors, indent=1) + "\n")


if __name__ == "__main__":
    raise_floors()
