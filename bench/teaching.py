"""How far do a sentence and a few answers carry a crawl, beside one that a perfect judge leads?

Six rows of the contest, from its own seeds and three times from three relevant pages; the truth answers. The data
folder (SPOOR_DATA, default: a `shared` folder beside the checkout) has the rows, `--webs` the webs that
`spoor contest` built. Other rows and field conditions: `--targets code=java,code=python`, `--conditions field`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import mean, stdev

import numpy as np

from spoor.cli.terminal import print_table
from spoor.lab.contest import Row, read_rows
from spoor.lab.task import PreparedTask, Task, read_seeds
from spoor.lab.teaching import Lessons, Taught, Teaching, from_start, taught
from spoor.lab.worlds import NAMED
from spoor.teaching.student import Answer, Answered, sample

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
VISITS = 5_000
REVISED = ("class=student", "code=java", "lang=ru")
"""Targets of the crawls whose verdicts are revised, for their costs: of small, middle and large webs."""
AGAINST = {True: "perfect judge, sentence", False: "perfect judge"}
Done = Mapping[str, Mapping[str, Taught]]
"""What came of each plan, by target and start."""


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench teaching", description=__doc__)
    parser.add_argument("--webs", type=Path, default=Path("out/contest/webs"), help="folder of the built webs")
    parser.add_argument("--starts", type=int, default=4, help="starts of each row (default: 4)")
    parser.add_argument("--targets", default=",".join(TARGETS), help="labels, separated by commas (default: the six)")
    parser.add_argument("--plans", default=";".join(PLANS), help="judges, separated by semicolons (default: all)")
    parser.add_argument("--conditions", choices=NAMED, default="lab")
    parser.add_argument("--kept", type=Path, default=Path("out/teaching.jsonl"), help="runs that are done already")
    parser.add_argument("--costs", action="store_true", help="instead: processor time of the student and of a lesson")
    given = parser.parse_args(options)
    if not (DATA / "contest" / "contest.tsv").exists() or not given.webs.is_dir():
        print(f"teaching: no rows in {DATA} or no webs in {given.webs}; set SPOOR_DATA, and run `spoor contest` once")
        return
    if given.costs:
        print_table(("what", "seconds"), [(what, f"{seconds:.4f}") for what, seconds in costs(given.webs)])
        return
    given.kept.parent.mkdir(parents=True, exist_ok=True)
    tasks = tasks_of(given.webs, given.targets.split(","), given.starts, given.conditions)
    done = run_all(tasks, given.plans.split(";"), given.kept)
    print_table(("judge", "runs", "area", "less than perfect", "F1 visited", "yes"), list(table(done)))


def tasks_of(webs: Path, targets: Sequence[str], starts: int, conditions: str) -> Iterator[tuple[str, Task]]:
    """Each with its name; all of the first start come first."""
    rows = {row.target: row for row in read_rows(DATA) if row.start == "relevant"}
    for start, target in itertools.product(range(starts), targets):
        name = f"{target} {start}" if conditions == "lab" else f"{target} {start} {conditions}"
        task = replace(task_of(rows[target], webs), conditions=NAMED[conditions])
        yield name, from_start(task, start)


def run_all(tasks: Iterable[tuple[str, Task]], plans: Sequence[str], kept: Path) -> Done:
    """Runs that are in the file are not made again."""
    lines = [json.loads(line) for line in kept.read_text("utf8").splitlines()] if kept.exists() else []
    known = {(one["plan"], one["run"]): Taught(**one["taught"]) for one in lines}
    done: dict[str, dict[str, Taught]] = {plan: {} for plan in plans}
    for name, task in tasks:
        for plan in plans:
            done[plan][name] = known.get((plan, name)) or kept_run(plan, name, task, kept)
    return done


def kept_run(plan: str, name: str, task: Task, kept: Path) -> Taught:
    run = taught(task, PLANS[plan])
    with kept.open("a", encoding="utf8") as file:
        file.write(json.dumps({"plan": plan, "run": name, "taught": asdict(run)}) + "\n")
    return run


def costs(webs: Path) -> Iterator[tuple[str, float]]:
    """Of processor time, after crawls of up to 5,000 requests."""
    rows = {row.target: row for row in read_rows(DATA) if row.start == "relevant"}
    prepared, *others = (PreparedTask(replace(task_of(rows[name], webs), budget=VISITS)) for name in REVISED)
    lessons, pages = crawled(prepared), prepared.pages(np.arange(1_000))
    yield "to judge a page", seconds_of(lambda: lessons.student.judge(pages)) / len(pages)
    known = [Answered(Answer(page.url, number % 4 == 0, "costs"), sample(page)) for number, page in enumerate(pages)]
    yield "to fit 500 answers", seconds_of(lambda: lessons.student.taught(known[:500]))
    yield of_lesson(lessons)
    yield from (of_lesson(crawled(other)) for other in others)


def crawled(prepared: PreparedTask) -> Lessons:
    lessons = Lessons(prepared, Teaching())
    for _ in lessons.events():
        pass
    return lessons


def of_lesson(lessons: Lessons) -> tuple[str, float]:
    lessons.put(50)
    before = {url: verdict.relevant for url, verdict in lessons.visited.items()}
    seconds = seconds_of(lessons.teach)
    turned = sum(lessons.visited[url].relevant != relevant for url, relevant in before.items())
    return f"a lesson: {len(before):,} pages judged again, {turned:,} verdicts turned", seconds


def seconds_of(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def task_of(row: Row, webs: Path) -> Task:
    return Task(webs / row.web.name, row.target, read_seeds(row.seeds))


def table(done: Done) -> Iterator[tuple[str, ...]]:
    for plan, runs in done.items():
        perfect = done.get(AGAINST[PLANS[plan].about], {})
        less = [perfect[name].area - run.area for name, run in runs.items() if name in perfect]
        yield (
            plan,
            f"{len(runs)}",
            f"{mean(run.area for run in runs.values()):.3f}",
            f"{mean(less):.3f} ± {stdev(less) / len(less) ** 0.5:.3f}" if len(less) > 1 else "",
            f"{mean(run.f1 for run in runs.values()):.3f}",
            f"{mean(run.positive for run in runs.values()):.1f} of {mean(run.answers for run in runs.values()):.0f}",
        )
