"""A contest: every strategy on every row, under all conditions. Results go to a folder, so an interrupted contest
resumes."""

from __future__ import annotations

import contextlib
import csv
import difflib
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

import spoor
from spoor import registry
from spoor.errors import BadInput, UsageError
from spoor.files import SUFFIX
from spoor.judging.classifiers import TopicModel, write_topic
from spoor.judging.held_out import Accuracy, accuracy
from spoor.judging.train_topic import train_topic
from spoor.judging.training_pages import Example, Kept, usable
from spoor.lab.comparison import Comparison, compared, refusal, run_jobs
from spoor.lab.measures import Score
from spoor.lab.runs import prepared_task, score
from spoor.lab.task import PreparedTask, Task, read_seeds
from spoor.lab.web import Web
from spoor.lab.worlds import NAMED
from spoor.progress import Advance
from spoor.result_files import replacing

# The rows of a contest: a web, a target and seeds.


COLUMNS = ("web", "target", "start", "seeds")


@dataclass(frozen=True)
class Row:
    """One line of contest.tsv, with `web` and `seeds` as paths."""

    web: Path
    target: str
    start: str
    seeds: Path

    @property
    def name(self) -> str:
        """The name in `--rows` and in the tables."""
        return f"{self.web.name}/{self.target}/{self.start}"

    @property
    def language(self) -> str:
        """The language tag of the target; "" if the target is not a language."""
        kind, _, tag = self.target.partition("=")
        return tag if kind == "lang" else ""


def read_rows(data: Path) -> list[Row]:
    """`data` contains contest/contest.tsv and webs/."""
    with (data / "contest" / "contest.tsv").open(encoding="utf8", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t")
        missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
        if missing:
            raise BadInput(f"{file.name} lacks the column {missing[0]!r}; it needs {', '.join(COLUMNS)}")
        rows = [_row(data, line, f"{file.name}, line {reader.line_num}") for line in reader]
    if not rows:
        raise BadInput(f"{file.name} has no rows; each names a web, a target, a start and a file of seeds")
    return rows


def _row(data: Path, line: dict[str, str | None], place: str) -> Row:
    web, target, start, seeds = (line[column] or "" for column in COLUMNS)
    if not (web and target and start and seeds):
        raise BadInput(f"{place}: a cell is empty; each row has {', '.join(COLUMNS)}")
    return Row(data / "webs" / web, target, start, data / "contest" / seeds)


def chosen(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """The rows that match a name or prefix: `webkb` selects all rows of a web, `webkb/class=course` all rows of a
    target, and a name with a start a single row."""
    for name in names:
        if not any(_is_of(row, name) for row in rows):
            near = difflib.get_close_matches(name, [row.name for row in rows], 1, 0.0)[0]
            raise UsageError(f"--rows {name}: there is no such row; the nearest is {near!r}, and a prefix is enough")
    return [row for row in rows if any(_is_of(row, name) for name in names)]


def _is_of(row: Row, name: str) -> bool:
    return f"{row.name}/".startswith(f"{name}/")


# The folder of a contest, with all its results. An interrupted contest resumes; results of other code versions are not
# reused.


ABOVE = ("__main__", "cli", "dashboard", "api", "live", "report", "seeding", "demo")
"""Packages that no run can depend on, because the layers forbid it. Changes in them do not invalidate results."""


@dataclass(frozen=True)
class ContestFolder:
    """Holds webs, models, verdicts and runs. A file name ends with a digest of everything its content depends on: the
    code, the web and the parameters. So an existing file is always valid. Webs are built once, whatever the code."""

    path: Path

    def web(self, name: str) -> Path:
        return self.path / "webs" / name

    def forget(self) -> None:
        """Deletes everything but the webs."""
        for kind in ("models", "verdicts", "runs"):
            shutil.rmtree(self.path / kind, ignore_errors=True)

    def file(self, name: str, web: Path, *facts: str) -> Path:
        """The path of a file such as runs/breadth-first.json, whose content depends on the code, the web and
        `facts`."""
        identity = json.dumps([name, code(), (web / "web.json").read_text("utf8"), *facts])
        kind, _, rest = name.partition("/")
        stem, dot, suffix = f"{web.name}--{rest}".rpartition(".")
        readable = re.sub(r"[^\w.+-]+", "-", stem)[:120]
        return self.path / kind / f"{readable}--{hashlib.sha256(identity.encode()).hexdigest()[:16]}{dot}{suffix}"


@cache
def code() -> str:
    """A digest of the package and its data files."""
    return _digest(Path(spoor.__file__).parent, ABOVE)


def code_of(strategy: str) -> str:
    """A digest of the plug-in that a strategy comes from; "" for a built-in one. Code that is in no file may have
    changed, so its digest is new every time."""
    name, _ = registry.strategy_named(strategy)
    if name in registry.STRATEGIES.built_in:
        return ""
    top = sys.modules.get(registry.STRATEGIES[name].make.__module__.partition(".")[0])
    file = Path(getattr(top, "__file__", None) or "")
    if not file.is_file():
        return uuid4().hex
    return _digest(file.parent) if file.name == "__init__.py" else hashlib.sha256(file.read_bytes()).hexdigest()


def _digest(package: Path, without: Collection[str] = ()) -> str:
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        name = path.relative_to(package)
        if path.is_file() and "__pycache__" not in name.parts and name.parts[0].removesuffix(".py") not in without:
            digest.update(f"{name.as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """The file is written completely or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as partial:
            yield partial
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None


def write_score(path: Path, score: Score) -> None:
    """Stores the score of one run, not yet normalised by the oracle."""
    with new_file(path) as partial:
        partial.write_text(json.dumps(asdict(score)), "utf8")


def read_score(path: Path) -> Score:
    figures = json.loads(path.read_text("utf8"))
    points = {name: tuple(map(tuple, figures[name])) for name in ("curve", "curve_time") if figures[name] is not None}
    found_at = {} if figures["found_at"] is None else {"found_at": tuple(figures["found_at"])}
    return Score(**figures | points | found_at | {"orders": ()})


# Real judges for the rows of a contest: shipped ones for languages, trained ones for other labels.


TRAINED = "examples"
"""The judge of rows whose target is not a language."""


def with_real_judge(row: Row, task: Task, folder: ContestFolder) -> Task:
    """The same task with the real judge of the row. `make_ready` creates the files it refers to."""
    model = folder.file(f"models/{row.target}{SUFFIX}", task.web)
    judge = f"language:{row.language}" if row.language else f"{TRAINED}:{model}"
    verdicts = folder.file(f"verdicts/{row.target}.npz", task.web)
    return replace(task, judge=judge, verdicts=verdicts)


def make_ready(task: Task) -> None:
    """Trains the judge if necessary, and lets it judge every page of the web. Done once, under lab conditions: verdicts
    do not depend on the conditions."""
    task = replace(task, conditions=None)
    kind, _, subject = task.judge.partition(":")
    if kind == TRAINED and not (file := Path(subject)).exists():
        model = trained_on_half(prepared_task(task))
        with new_file(file) as partial:
            write_topic(partial, model)
    assert task.verdicts is not None
    if not task.verdicts.exists():
        verdicts = prepared_task(task).verdicts()
        with new_file(task.verdicts) as partial:
            verdicts.write(partial)


def trained_on_half(prepared: PreparedTask) -> TopicModel:
    """Trained on pages with and without the label. Skips empty pages, duplicates, and pages that occur both with and
    without the label."""
    target, half = prepared.task.target, _train_mask(prepared.web) & prepared.web.answers()
    positive = _examples(prepared, half & prepared.relevant)
    known = {(example.page.title, example.text) for example in positive.examples}
    others = _examples(prepared, half & ~prepared.relevant)
    negative = tuple(each for each in others.examples if (each.page.title, each.text) not in known)
    try:
        return train_topic(target, positive, replace(others, examples=negative), f"half of {prepared.web.name}").model
    except BadInput as error:
        remedy = "use --judge truth, or choose other rows with --rows"
        raise BadInput(f"no judge of {target} in {prepared.web.name} can be trained: {error}; {remedy}") from None


def _examples(prepared: PreparedTask, these: NDArray[np.bool_]) -> Kept:
    pages = prepared.pages(np.flatnonzero(these))
    return usable(Example(page.url, page) for page in pages)


def accuracy_on_unseen(task: Task) -> Accuracy:
    """Compares the verdicts with the labels, on reachable pages that were not used in training."""
    prepared = prepared_task(task)
    there = prepared.reachable & prepared.web.answers()
    if task.judge.startswith(f"{TRAINED}:"):
        there &= ~_train_mask(prepared.web)
    return accuracy(prepared.judged()[there], prepared.relevant[there])


def _train_mask(web: Web) -> NDArray[np.bool_]:
    """The half of the pages used for training, chosen by a hash of the URL, so always the same."""
    return np.array([_is_train(web.urls[number]) for number in range(web.pages)], np.bool_)


def _is_train(url: str) -> bool:
    return hashlib.blake2b(url.encode(), digest_size=1).digest()[0] % 2 == 0


# A whole contest: every strategy on every row, under all conditions, with each judge and each cap per host.


Judging = Literal["truth", "real"]
Cap = int | None


class View(NamedTuple):
    """The settings that comparable rows share: the name of the conditions, the kind of judge, and the cap per host."""

    conditions: str
    judging: Judging
    cap: Cap = None


@dataclass(frozen=True)
class Plan:
    """What to run. `ablations` are variants of one strategy, each with one part left out; they run only with the first
    judge, without a cap. `caps` per host also use the first judge only, without the ablations. Everything runs under
    each of the `conditions`, from up to `orders` orders of the seeds."""

    strategies: tuple[str, ...]
    ablations: tuple[str, ...] = ()
    judges: tuple[Judging, ...] = ("truth", "real")
    caps: tuple[int, ...] = ()
    conditions: tuple[str, ...] = ("field", "lab")
    orders: int = 5


@dataclass(frozen=True)
class ContestRun:
    """A row in one view. Each strategy runs it once from each order of the seeds."""

    row: Row
    view: View
    task: Task
    orders: int = 1
    strategies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """The result of a `ContestRun`. `accuracy` is that of the judge; None for the ground truth."""

    contest_run: ContestRun
    comparison: Comparison
    accuracy: Accuracy | None = None

    def as_json(self) -> dict[str, Any]:
        """The format of `compare --json`, with the start of the row and the accuracy of the judge."""
        judge = {"accuracy": self.accuracy.as_json()} if self.accuracy else {}
        return self.comparison.as_json() | {"start": self.contest_run.row.start} | judge


def planned(plan: Plan, rows: Sequence[Row], folder: ContestFolder) -> list[ContestRun]:
    """The runs, without strategies yet, ordered by conditions. Under a cap, only rows with relevant pages on more than
    one host take part: otherwise there is nothing to find on other hosts."""
    return [
        contest_run for name in plan.conditions for row in rows for contest_run in _runs_of(row, name, plan, folder)
    ]


def _runs_of(row: Row, conditions: str, plan: Plan, folder: ContestFolder) -> Iterable[ContestRun]:
    plain = Task(folder.web(row.web.name), row.target, read_seeds(row.seeds))
    perfect = replace(plain, conditions=NAMED[conditions])
    tasks: dict[Judging, Task] = {"truth": perfect, "real": with_real_judge(row, perfect, folder)}
    orders = len(prepared_task(plain).seed_orders(plan.orders))
    for judging in plan.judges:
        yield ContestRun(row, View(conditions, judging), tasks[judging], orders)
    if plan.caps and (prepared_task(plain).yardstick.relevant_hosts or 0) > 1:
        first = plan.judges[0]
        for cap in plan.caps:
            yield ContestRun(row, View(conditions, first, cap), replace(tasks[first], per_host=cap), orders)


class Refusals:
    """Why strategies cannot run tasks. Cached by web, target, judge and strategy: seeds and caps make no difference."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, str, str, str], UsageError | None] = {}

    def of(self, task: Task, strategy: str) -> UsageError | None:
        """None if the strategy can run the task."""
        asked = (task.web, task.target, task.judge, strategy)
        if asked not in self._known:
            self._known[asked] = refusal(task, strategy)
        return self._known[asked]

    def of_all(self, contest_runs: Sequence[ContestRun], strategy: str) -> UsageError | None:
        """Why it can run none of the tasks. None if it can run at least one."""
        reasons = [self.of(contest_run.task, strategy) for contest_run in contest_runs]
        return reasons[0] if all(reasons) else None


def entered(plan: Plan, contest_runs: Iterable[ContestRun], refusals: Refusals) -> list[ContestRun]:
    """The runs with the strategies that can run them, always including the oracle."""
    return [
        replace(contest_run, strategies=tuple(_takers(plan, contest_run, refusals))) for contest_run in contest_runs
    ]


def _takers(plan: Plan, contest_run: ContestRun, refusals: Refusals) -> Iterable[str]:
    ablations = plan.ablations if contest_run.view == View(contest_run.view.conditions, plan.judges[0]) else ()
    names = dict.fromkeys([*plan.strategies, *ablations, "oracle"])
    return (name for name in names if refusals.of(contest_run.task, name) is None)


Runs = Mapping[tuple[ContestRun, str, int], Path]
"""The score file for each contest run, strategy and order of the seeds."""


def runs_of(contest_runs: Iterable[ContestRun], folder: ContestFolder) -> Runs:
    return {
        (contest_run, name, order): _file(contest_run, name, order, folder)
        for contest_run in contest_runs
        for name in contest_run.strategies
        for order in range(contest_run.orders)
    }


def _file(contest_run: ContestRun, strategy: str, order: int, folder: ContestFolder) -> Path:
    row, view, task = contest_run.row, contest_run.view, contest_run.task
    cap = "any" if view.cap is None else str(view.cap)
    name = "--".join((row.target, row.start, strategy, view.conditions, view.judging, cap, f"order{order}"))
    return folder.file(f"runs/{name}.json", task.web, *task.seeds, *filter(None, [code_of(strategy)]))


def run_missing(runs: Runs, pool: Executor, advance: Advance) -> None:
    """Runs those without a stored score. Calls `advance` after each."""
    missing = [
        (contest_run.task, name, order, file) for (contest_run, name, order), file in runs.items() if not file.exists()
    ]
    run_jobs([(keep_score, *job) for job in missing], pool, advance)


def keep_score(task: Task, strategy: str, order: int, file: Path) -> None:
    write_score(file, score(task, strategy, order))


def results(contest_runs: Iterable[ContestRun], runs: Runs) -> list[Result]:
    return [_result(contest_run, runs) for contest_run in contest_runs]


def _result(contest_run: ContestRun, runs: Runs) -> Result:
    scores = {
        name: [read_score(runs[contest_run, name, order]) for order in range(contest_run.orders)]
        for name in contest_run.strategies
    }
    accuracy = accuracy_on_unseen(contest_run.task) if contest_run.view.judging == "real" else None
    return Result(contest_run, compared(contest_run.task, scores), accuracy)
