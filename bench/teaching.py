"""How far do a sentence and a few answers carry a crawl, beside one that a perfect judge leads?

Six rows of the contest, from its own seeds and three times from three relevant pages; the truth answers. The data
folder (SPOOR_DATA, default: a `shared` folder beside the checkout) has the rows, `--webs` the webs that
`spoor contest` built.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean, stdev

from spoor.cli.terminal import print_table
from spoor.lab.contest import Row, read_rows
from spoor.lab.task import Task, read_seeds
from spoor.lab.teaching import Taught, Teaching, from_start, taught

DATA = Path(os.environ.get("SPOOR_DATA") or Path(__file__).resolve().parents[2] / "shared")
TARGETS = (
    "subject.IT",
    "subject.Geography.African_Geography",
    "class=course",
    "class=project",
    "class=faculty",
    "class=student",
)
PLANS = {
    "perfect judge, sentence": Teaching(perfect=True, about=True),
    "sentence, 50 answers": Teaching(50, about=True),
    "perfect judge": Teaching(perfect=True),
    "pages alone": Teaching(),
    "50 answers": Teaching(50),
    "sentence, 100 answers": Teaching(100, about=True),
    "sentence, 50 answers, one in ten wrong": Teaching(50, about=True, wrong=0.1),
}
AGAINST = {True: "perfect judge, sentence", False: "perfect judge"}
Done = Mapping[str, Mapping[str, Taught]]
"""What came of each plan, by target and start."""


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench teaching", description=__doc__)
    parser.add_argument("--webs", type=Path, default=Path("out/contest/webs"), help="folder of the built webs")
    parser.add_argument("--starts", type=int, default=4, help="starts of each row (default: 4)")
    parser.add_argument("--kept", type=Path, default=Path("out/teaching.jsonl"), help="runs that are done already")
    given = parser.parse_args(options)
    if not (DATA / "contest" / "contest.tsv").exists() or not given.webs.is_dir():
        print(f"teaching: no rows in {DATA} or no webs in {given.webs}; set SPOOR_DATA, and run `spoor contest` once")
        return
    given.kept.parent.mkdir(parents=True, exist_ok=True)
    done = run_all(given.webs, given.starts, given.kept)
    print_table(
        ("judge", "area", "less than perfect", "F1 visited", "yes"), list(table(done)), f"{given.starts} starts"
    )


def run_all(webs: Path, starts: int, kept: Path) -> Done:
    """Runs that are in the file are not made again."""
    lines = [json.loads(line) for line in kept.read_text("utf8").splitlines()] if kept.exists() else []
    done = {plan: {one["run"]: Taught(**one["taught"]) for one in lines if one["plan"] == plan} for plan in PLANS}
    rows = {row.target: row for row in read_rows(DATA) if row.start == "relevant"}
    for start, target in itertools.product(range(starts), TARGETS):
        for plan, teaching in PLANS.items():
            if (name := f"{target} {start}") not in done[plan]:
                done[plan][name] = taught(from_start(task_of(rows[target], webs), start), teaching)
                line = {"plan": plan, "run": name, "taught": asdict(done[plan][name])}
                with kept.open("a", encoding="utf8") as file:
                    file.write(json.dumps(line) + "\n")
    return done


def task_of(row: Row, webs: Path) -> Task:
    return Task(webs / row.web.name, row.target, read_seeds(row.seeds))


def table(done: Done) -> Iterator[tuple[str, ...]]:
    for plan, runs in done.items():
        paired = [(runs[name].area, done[AGAINST[PLANS[plan].about]][name].area) for name in runs]
        less = [perfect - own for own, perfect in paired]
        yield (
            plan,
            f"{mean(own for own, _ in paired):.3f}",
            f"{mean(less):.3f} ± {stdev(less) / len(less) ** 0.5:.3f}",
            f"{mean(run.f1 for run in runs.values()):.3f}",
            f"{mean(run.positive for run in runs.values()):.1f} of {mean(run.answers for run in runs.values()):.0f}",
        )
