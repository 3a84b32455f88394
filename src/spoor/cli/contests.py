"""`spoor contest`: every strategy on every row of a contest, into tables, plots and a page."""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from statistics import mean

from spoor.cli.options.simulations import CONTEST_ORDERS
from spoor.cli.simulating import names_in
from spoor.cli.terminal import (
    check_writable,
    print_json,
    print_table,
    progress,
    remark,
    write_json,
    write_text,
)
from spoor.errors import BadInput, UsageError
from spoor.lab.build.builder import BuildOptions, build_web
from spoor.lab.build.gather import BuildReport
from spoor.lab.build.warc_source import read_warcs
from spoor.lab.comparison import run_jobs, workers
from spoor.lab.contest import (
    ContestFolder,
    ContestRun,
    Judging,
    Plan,
    Refusals,
    Row,
    View,
    chosen,
    entered,
    make_ready,
    planned,
    read_rows,
    results,
    run_missing,
    runs_of,
)
from spoor.lab.contest_report import Report, check_page, file, filled, is_plot, section_names
from spoor.lab.held_out_contest import CLUSTERS, HeldOutResult, HeldOutRow, compete, prepare, strategies, train_all
from spoor.lab.leaderboard import leaders
from spoor.lab.plots import blank, said
from spoor.lab.worlds import NAMED
from spoor.progress import counted
from spoor.registry import STRATEGIES, strategy_named
from spoor.settings import USUAL_PARSING, ParseSettings

_log = logging.getLogger(__name__)

# The recorded webs of the data folder, built on demand.


def build_webs(recorded: Iterable[Path], webs: Path, processes: int) -> None:
    """Builds each web once in the folder `webs`; a later contest uses it again. `recorded` are folders of the data."""
    for source in dict.fromkeys(recorded):
        if not (webs / source.name).exists():
            build_recorded(source, webs / source.name, processes)


def build_recorded(recorded: Path, folder: Path, processes: int, parsing: ParseSettings = USUAL_PARSING) -> None:
    """`recorded` is a folder of the data, with web.warc.xz and truth.tsv."""
    report, archive = BuildReport(), recorded / "web.warc.xz"
    making = BuildOptions(recorded.name, archive.name, recorded / "truth.tsv", parsing=parsing)
    with progress(f"pages of {recorded.name}") as advance:
        build_web(folder, counted(read_warcs([archive], report, processes, parsing), advance), making, report)


# `spoor contest --held-out`: trained strategies on the part of each web that was not used for training.


def held_out(rows: Sequence[Row], out: Path, processes: int, as_json: bool = False) -> None:
    """The webs of the rows are in `out`/webs. Writes `out`/held-out.md and held-out.json."""
    models = out / "models" / "held-out"
    with progress("train/test splits", len(rows)) as advance:
        prepared = prepare(rows, out / "webs", advance)
    for row in prepared:
        if row.why_not:
            _log.warning("left out %s: %s", row.row.name, row.why_not)
    runnable = [row for row in prepared if not row.why_not]
    if not runnable:
        raise BadInput("no row is left to run; the reasons are above, choose other rows with --rows")
    taught = {(row.split, row.row.target) for row in runnable}
    with workers(processes) as pool:
        with progress("models", len(taught) * len(CLUSTERS)) as advance:
            train_all(runnable, models, pool, advance)
        with progress("strategies on rows", sum(len(strategies(row, models)) for row in runnable)) as advance:
            found = [compete(row, models, pool, advance) for row in runnable]
    _write_held_out(found, out, as_json)


def _write_held_out(found: Sequence[HeldOutResult], out: Path, as_json: bool) -> None:
    names = list(found[0].areas)
    lines = [[*_said(result.row), *(f"{result.areas[name]:.3f}" for name in names)] for result in found]
    lines.append(["mean", "", *(f"{mean(result.areas[name] for result in found):.3f}" for name in names)])
    columns = ["normalised area", "parted by", *names]
    write_text(out / "held-out.md", _markdown([columns, ["---"] * len(columns), *lines]))
    results = [
        {**result.comparison.as_json(), "start": result.row.row.start, "parted_by": result.row.split.how}
        for result in found
    ]
    write_json(out / "held-out.json", results)
    if as_json:
        print_json(results)
    else:
        print_table(columns, lines, "\ntrained on one half of the web, tested on the other")


def _said(row: HeldOutRow) -> list[str]:
    return [f"{row.row.web.name} {row.row.target} {row.row.start}", row.split.how]


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


# `spoor contest`: every strategy on every row of a contest, into tables, plots and a page.


UNDER_ANOTHER_NAME = ("b-crawl", "core-baseline", "taxonomy-soft")
"""Strategies that are identical to another one in the contest."""
JUDGES: dict[str, tuple[Judging, ...]] = {"truth": ("truth",), "real": ("real",), "both": ("truth", "real")}


def run_contest(arguments: argparse.Namespace) -> int:
    data = arguments.data or Path(os.environ.get("SPOOR_DATA") or "../shared")
    if not (data / "contest" / "contest.tsv").exists():
        raise BadInput(f"there is no contest data in {data}; name its folder with --data or SPOOR_DATA")
    check_writable(arguments.out / "results.json")
    if arguments.page:
        blank(1, 1)
        check_page(arguments.page, section_names())
    plan, rows = _plan(arguments), read_rows(data)
    rows = chosen(rows, arguments.rows.split(",")) if arguments.rows else rows
    if arguments.held_out:
        _check_alone(arguments)
        build_webs([row.web for row in rows], arguments.out / "webs", arguments.workers)
        held_out(rows, arguments.out, arguments.workers, arguments.json)
        return 0
    _write(_report(plan, rows, arguments), arguments)
    return 0


def _check_alone(arguments: argparse.Namespace) -> None:
    for option in ("strategies", "ablate", "per_host", "page", "conditions", "orders"):
        if getattr(arguments, option):
            raise UsageError(f"--held-out has its own table; leave --{option.replace('_', '-')} out, --rows may stay")


def _plan(arguments: argparse.Namespace) -> Plan:
    everything = [name for name in STRATEGIES if name not in UNDER_ANOTHER_NAME]
    strategies = everything if arguments.strategies is None else list(dict.fromkeys(names_in(arguments.strategies)))
    for name in strategies:
        strategy_named(name)
    ablations = _ablations(arguments.ablate, strategies) if arguments.ablate else ()
    return Plan(
        tuple(strategies),
        ablations,
        JUDGES[arguments.judge],
        _caps(arguments.per_host),
        _conditions(arguments.conditions),
        arguments.orders or CONTEST_ORDERS,
    )


def _ablations(whole: str, strategies: Sequence[str]) -> tuple[str, ...]:
    name, _ = strategy_named(whole)
    if not STRATEGIES[name].kinds:
        able = ", ".join(name for name, named in STRATEGIES.items() if named.kinds)
        raise UsageError(f"--ablate {whole}: it has no parts to leave out; {able} have")
    if whole not in strategies:
        raise UsageError(f"--ablate {whole}: it is not among the --strategies, so there is nothing to compare with")
    return tuple(f"{whole}:without={kind}" for kind in STRATEGIES[name].kinds)


def _caps(text: str) -> tuple[int, ...]:
    caps = [cap.strip() for cap in text.split(",") if cap.strip()]
    for cap in caps:
        if not cap.isdecimal() or int(cap) < 1:
            raise UsageError(f"--per-host {cap}: not a number of pages, such as 10 or 100")
    return tuple(dict.fromkeys(map(int, caps)))


def _conditions(text: str | None) -> tuple[str, ...]:
    """In the order given; None for all."""
    if text is None:
        return tuple(NAMED)
    names = [name.strip() for name in text.split(",")]
    if wrong := [name for name in names if name not in NAMED]:
        raise UsageError(f"--conditions {text}: {wrong[0]!r} is unknown; known are {' and '.join(NAMED)}")
    return tuple(dict.fromkeys(names))


def _report(plan: Plan, rows: Sequence[Row], arguments: argparse.Namespace) -> Report:
    """Runs only what was not run before with the same code."""
    folder = ContestFolder(arguments.out)
    if arguments.fresh:
        folder.forget()
    build_webs([row.web for row in rows], folder.path / "webs", arguments.workers)
    with workers(arguments.workers) as pool:
        contest_runs = planned(plan, rows, folder)
        _ready(contest_runs, pool)
        refusals = Refusals()
        plan = _with_takers(plan, contest_runs, refusals, asked_for=arguments.strategies is not None)
        contest_runs = entered(plan, contest_runs, refusals)
        runs = runs_of(contest_runs, folder)
        missing = sum(not file.exists() for file in runs.values())
        remark(f"runs        {len(runs):,}, {len(runs) - missing:,} of them from earlier")
        with progress("strategies on rows", missing) as advance:
            run_missing(runs, pool, advance)
    return Report(plan, tuple(results(contest_runs, runs)))


def _with_takers(plan: Plan, contest_runs: Sequence[ContestRun], refusals: Refusals, asked_for: bool) -> Plan:
    """Without the strategies that accept no row. If strategies were given by name, raises instead of leaving one
    out."""
    in_vain = {name: reason for name in plan.strategies if (reason := refusals.of_all(contest_runs, name))}
    for name, reason in in_vain.items():
        if asked_for:
            raise reason
        _log.warning("left out %s: %s", name, reason)
    return replace(plan, strategies=tuple(name for name in plan.strategies if name not in in_vain))


def _ready(contest_runs: Sequence[ContestRun], pool: Executor) -> None:
    """Real judges are built, and judge all pages, before the first run, once for each web and target."""
    tasks = {
        contest_run.task.verdicts: contest_run.task
        for contest_run in contest_runs
        if contest_run.view.judging == "real" and contest_run.view.cap is None
    }
    with progress("real judges", len(tasks)) as advance:
        run_jobs([(make_ready, task) for task in tasks.values()], pool, advance)


def _write(report: Report, arguments: argparse.Namespace) -> None:
    results = [result.as_json() for result in report.results]
    write_json(arguments.out / "results.json", results)
    sections = report.sections()
    written = "\n".join(f"## {name}\n\n{text}" for name, text in sections.items() if not is_plot(name))
    write_text(arguments.out / "report.md", written)
    if arguments.json:
        print_json(results)
    else:
        _show_leaders(report)
    if arguments.page:
        for name, drawing in report.plots().items():
            write_text(arguments.page.parent / "images" / file(name), drawing)
        write_text(arguments.page, filled(arguments.page, sections))


def _show_leaders(report: Report) -> None:
    for view in _uncapped(report):
        table = leaders(report.views[view])
        print_table(table.columns, table.lines, f"\nnormalised area, {said(view)}")


def _uncapped(report: Report) -> list[View]:
    return [View(conditions, judging) for conditions in report.plan.conditions for judging in report.plan.judges]
