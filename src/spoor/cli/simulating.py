"""`spoor simulate`, `compare` and `tune`: strategies on a web, with or without a virtual clock."""

from __future__ import annotations

import argparse
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from spoor import registry
from spoor.cli.command import SUMMARIES, Commands, add_command, add_workers, at_least_one
from spoor.cli.terminal import SCORE_COLUMNS, check_writable, print_table, progress, score_row, score_table, write_text
from spoor.errors import UsageError
from spoor.lab.comparison import Comparison, Objective, compare, grid, simplex, simulation, tune, value, workers
from spoor.lab.measures import Information, Timing, information
from spoor.lab.plots import plot_scores
from spoor.lab.runs import course
from spoor.lab.task import Task, read_seeds
from spoor.lab.worlds import FIELD, NAMED, Conditions

# The options by which `simulate` and `compare` are told what to do.


def add_task_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "web", type=Path, metavar="WEB", help="folder made by `spoor web build` or `spoor web generate`"
    )
    parser.add_argument("--target", required=True, metavar="LABEL", help="what is wanted: a label, such as lang=ja")
    parser.add_argument("--seeds", required=True, type=Path, metavar="FILE", help="where to start: one URL a line")
    parser.add_argument(
        "--judge",
        default="truth",
        metavar="J",
        help="who judges: truth (default), language:th, a model, a crawl.toml …",
    )
    parser.add_argument(
        "--budget", type=int, metavar="N", help="visits (default: four for each wanted page that can be reached, ≥ 200)"
    )
    parser.add_argument("--per-host", type=int, metavar="N", help="pages of one host at most (default: any number)")
    parser.add_argument(
        "--unrecorded",
        choices=("skip", "fail"),
        help="links to pages the web does not hold are not offered (skip, as in the lab) or cost a visit (fail)",
    )
    parser.add_argument(
        "--driver",
        choices=("auto", "simulated", "compiled"),
        default="auto",
        help="compiled is for large webs without texts; both visit the same pages in the same order",
    )


def task_from(arguments: argparse.Namespace, conditions: Conditions | None = None) -> Task:
    """`conditions` None: the lab."""
    if arguments.budget is not None and arguments.budget < 1:
        raise UsageError(f"--budget {arguments.budget}: at least one visit is needed")
    if arguments.per_host is not None and arguments.per_host < 1:
        raise UsageError(f"--per-host {arguments.per_host}: at least one page is needed; leave it out for any number")
    return Task(
        web=arguments.web,
        target=arguments.target,
        seeds=read_seeds(arguments.seeds),
        judge=arguments.judge,
        budget=arguments.budget,
        open_ended=arguments.unrecorded == "fail",
        driver=arguments.driver,
        per_host=arguments.per_host,
        conditions=conditions,
    )


def names_in(text: str) -> list[str]:
    """Strategies, separated by commas."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError(f"--strategies {text!r} names no strategy; `spoor strategies` lists them")
    return names


# The options by which `simulate` and `compare` are told under what conditions to run.


def add_conditions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--conditions",
        choices=tuple(NAMED),
        default="lab",
        help="lab (default): one visit at a time in a closed web, nothing takes time; field: what a live crawl meets",
    )
    add_orders(parser, 1)
    clock = parser.add_argument_group("virtual clock", "a value that is given overrides that of --conditions field")
    usual, field = Conditions(), FIELD
    clock.add_argument("--clock", action="store_true", help="let visits take virtual time, with a crawl delay per host")
    clock.add_argument(
        "--connections",
        type=int,
        metavar="N",
        help=f"visits at once ({usual.connections}; in the field {field.connections})",
    )
    clock.add_argument("--rest", type=float, metavar="S", help=f"crawl delay of a host in seconds ({usual.rest:g})")
    clock.add_argument("--latency", type=float, metavar="S", help=f"median over hosts ({usual.latency:g})")
    clock.add_argument("--bandwidth", type=float, metavar="B", help=f"bytes/s, median ({usual.bandwidth:.0f})")
    clock.add_argument(
        "--failures",
        type=float,
        metavar="P",
        help=f"share of visits that time out ({usual.failures:g}; in the field {field.failures:g})",
    )
    clock.add_argument("--clock-seed", type=int, metavar="K", dest="seed", help="draws the speeds of hosts (0)")


def add_orders(parser: argparse.ArgumentParser, usual: int) -> None:
    """`--orders`; None is what a command finds where it was not given."""
    parser.add_argument(
        "--orders", type=at_least_one, metavar="N", help=f"orders of the seeds to run from; figures are means ({usual})"
    )


def conditions_from(arguments: argparse.Namespace) -> Conditions | None:
    """None: the lab."""
    named = NAMED[arguments.conditions]
    if named is None and not arguments.clock:
        return None
    given = {name: getattr(arguments, name) for name in ("connections", "rest", "latency", "bandwidth", "failures")}
    check_conditions(given)
    if arguments.driver == "compiled":
        option = "--clock" if named is None else f"--conditions {arguments.conditions}"
        raise UsageError(f"{option} needs the simulated driver; leave out --driver compiled")
    given |= {"seed": arguments.seed, "open_web": arguments.unrecorded and arguments.unrecorded == "fail"}
    return replace(named or Conditions(), **{name: value for name, value in given.items() if value is not None})


def check_conditions(given: dict[str, Any]) -> None:
    """Values by the names of their options; None: not given."""
    for name, number in given.items():
        if number is None:
            continue
        if name in ("connections", "latency", "bandwidth") and not number > 0:
            raise UsageError(f"--{name} {number}: must be more than 0")
        if not number >= 0:
            raise UsageError(f"--{name} {number}: must not be negative")
        if name == "failures" and number >= 1:
            raise UsageError(f"--failures {number}: must be at least 0 and below 1")


# `spoor simulate`: one strategy on one web, with or without a virtual clock.


SIMULATE_EXAMPLES = """
spoor web generate --like thai --pages 30000 --seed 1 --out thai-web
spoor simulate thai-web --strategy soft-focused --target relevant --seeds thai-web/seeds.txt
spoor simulate thai-web --strategy soft-focused --target relevant --seeds thai-web/seeds.txt \\
    --clock --connections 32 --rest 1 --failures 0.02 --json soft.json
spoor simulate thai-web --strategy soft-focused --target relevant --seeds thai-web/seeds.txt --conditions field
"""


def register_simulate(commands: Commands) -> None:
    parser = add_command(commands, "simulate", SUMMARIES["simulate"], SIMULATE_EXAMPLES, run_simulate)
    add_task_options(parser)
    parser.add_argument("--strategy", required=True, metavar="S", help="a name from `spoor strategies`")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result as JSON")
    add_conditions(parser)


def run_simulate(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json)
    task, strategy = task_from(arguments, conditions_from(arguments)), arguments.strategy
    orders = arguments.orders or 1
    budget = course(task).yardstick.budget * len(course(task).seed_orders(orders))
    with progress(strategy, budget if task.conditions else None) as advance:
        done = simulation(task, strategy, orders, advance)
    score, first = done.score, done.runs[0]
    collected = information(first, first.timing.elapsed if first.timing else None)
    print_table(*score_table([score]))
    if first.timing:
        _show_timing(first.timing)
    _show_information(collected)
    if arguments.json:
        clock = {"clock": first.timing.as_json()} if first.timing else {}
        told = score.as_json() | clock | {"information": collected.as_json()}
        write_text(arguments.json, json.dumps(told, ensure_ascii=False) + "\n")
    return 0


def _show_timing(timing: Timing) -> None:
    polite = timing.politeness
    print(f"virtual time   {timing.elapsed:,.1f} s, {timing.pages_per_second:,.2f} pages/s")
    kept = "no host was visited twice" if polite.tightest is None else f"tightest {polite.tightest:.3f} of the rest due"
    print(
        f"politeness     {polite.visits:,} visits to {polite.hosts:,} hosts, {len(polite.violations)} too soon ({kept})"
    )


def _show_information(collected: Information) -> None:
    everything, kept = collected.downloaded, collected.stored
    told = [f"IS {everything.total:,.1f} MB = AIS {everything.accurate:,.1f} + FIS {everything.fault:,.1f}"]
    told += [] if everything.accuracy is None else [f"AR {everything.accuracy:.3f}"]
    told += [] if kept.accuracy is None else [f"AR of the {kept.pages:,} stored {kept.accuracy:.3f}"]
    told += [] if collected.speed is None else [f"CS {collected.speed:,.1f} MB/h"]
    print(f"information    {'; '.join(told)}")


# `spoor compare`: several strategies on one web, side by side.


COMPARE_EXAMPLES = """
spoor web generate --like thai --pages 30000 --seed 1 --out thai-web
spoor compare thai-web --target relevant --seeds thai-web/seeds.txt --strategies breadth-first,soft-focused
spoor compare thai-web --target relevant --seeds thai-web/seeds.txt --judge charset:th \\
    --strategies hard-focused,limited-distance:n=2,prioritised-limited-distance:n=2 --json r.json --plot r.svg
spoor compare thai-web --target relevant --seeds thai-web/seeds.txt --strategies breadth-first,soft-focused \\
    --conditions field --orders 5
"""


def register_compare(commands: Commands) -> None:
    parser = add_command(
        commands,
        "compare",
        SUMMARIES["compare"],
        COMPARE_EXAMPLES,
        run_compare,
    )
    add_task_options(parser)
    add_conditions(parser)
    parser.add_argument("--strategies", required=True, metavar="A,B,…", help="names from `spoor strategies`")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw harvest, coverage (by time, too) and queue")
    add_workers(parser)


def run_compare(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json, arguments.plot)
    task = task_from(arguments, conditions_from(arguments))
    strategies = names_in(arguments.strategies)
    orders = arguments.orders or 1
    runs = len({*strategies, "oracle"}) * len(course(task).seed_orders(orders))
    with workers(arguments.workers) as pool, progress("runs", runs) as advance:
        comparison = compare(task, strategies, pool, advance, orders)
    show(comparison)
    if arguments.json:
        write_text(arguments.json, json.dumps(comparison.as_json(), ensure_ascii=False) + "\n")
    if arguments.plot:
        write_text(arguments.plot, plot_scores(comparison.scores, comparison.yardstick, describe(comparison)))
    return 0


def describe(comparison: Comparison) -> str:
    against = comparison.yardstick
    reach = f"{against.relevant:,} of {comparison.reachable:,} reachable pages are wanted"
    return f"{comparison.task.target} in {comparison.task.web.name}: {reach}, budget {against.budget:,} visits"


def show(comparison: Comparison) -> None:
    print_table(*score_table(comparison.scores), describe(comparison))


# `spoor tune`: try parameters of a strategy on a web, and see which suit it.


TUNE_EXAMPLES = """
spoor web generate --like mongolian --text --pages 5000 --seed 1 --out mongolian-web
spoor tune mongolian-web --strategy n-crawl:language=mn-Mong --target relevant \\
    --seeds mongolian-web/seeds.txt --budget 300 --simplex t,s,d --step 0.25
spoor tune mongolian-web --strategy prioritised-limited-distance --target relevant \\
    --seeds mongolian-web/seeds.txt --vary n=0,1,2,3,4 --objective normalised
"""
MOST = 500
SHOWN = 10


def register_tune(commands: Commands) -> None:
    parser = add_command(commands, "tune", SUMMARIES["tune"], TUNE_EXAMPLES, run_tune)
    add_task_options(parser)
    parser.add_argument("--strategy", required=True, metavar="S", help="a name from `spoor strategies`")
    parser.add_argument("--simplex", metavar="A,B,…", help="parameters that are weights and add up to 1")
    parser.add_argument("--step", type=float, default=0.1, metavar="X", help="between two weights (0.1)")
    parser.add_argument(
        "--vary", action="append", default=[], metavar="NAME=V,V,…", help="values to try; may be given several times"
    )
    parser.add_argument(
        "--objective", choices=get_args(Objective), default="ar", help="accuracy rate at the budget (ar), or area"
    )
    parser.add_argument("--most", type=int, default=MOST, metavar="N", help=f"refuse more combinations ({MOST})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results as JSON, best first")
    add_workers(parser)


def run_tune(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json)
    strategies = _combinations(arguments)
    task = task_from(arguments)
    with workers(arguments.workers) as pool, progress("combinations", len(strategies) + 1) as advance:
        tried = tune(task, strategies, arguments.objective, pool, advance)
    _show_tuning(tried, arguments.objective)
    print(f"\nrun the best with:\n  {_command(arguments, tried.scores[0].strategy)}")
    if arguments.json:
        told = tried.as_json() | {"objective": arguments.objective}
        write_text(arguments.json, json.dumps(told, ensure_ascii=False) + "\n")
    return 0


def _combinations(arguments: argparse.Namespace) -> list[str]:
    """Refuses what no strategy can be made of before anything runs."""
    if not arguments.simplex and not arguments.vary:
        raise UsageError("nothing to tune; name weights with --simplex t,s,d or values with --vary n=1,2,3")
    varied = dict(map(_values, arguments.vary))
    names = [name.strip() for name in arguments.simplex.split(",")] if arguments.simplex else []
    twice = [name for name in names if name in varied or names.count(name) > 1]
    if twice or len(varied) < len(arguments.vary):
        raise UsageError(f"{twice[0] if twice else 'a parameter'} is given twice; name each in one --simplex or --vary")
    weights = simplex(names, arguments.step) if names else [()]
    strategies = grid(arguments.strategy, varied, weights)
    for strategy in strategies:
        registry.strategy_named(strategy)
    if len(strategies) > arguments.most:
        remedy = f"try fewer values, or allow them with --most {len(strategies)}"
        raise UsageError(f"{len(strategies):,} combinations are more than {arguments.most:,}; {remedy}")
    return strategies


def _values(text: str) -> tuple[str, list[str]]:
    name, _, values = text.partition("=")
    found = [value.strip() for value in values.split(",") if value.strip()]
    if not name or not found:
        raise UsageError(f"--vary {text}: give a parameter and its values, as in n=1,2,3")
    return name.strip(), found


def _show_tuning(tried: Comparison, objective: Objective) -> None:
    best = tried.scores[:SHOWN]
    rows = [[*score_row(score), f"{value('ar', score, tried.yardstick):.3f}"] for score in best]
    among = f"the best {len(best)} of {len(tried.scores)} by {objective}"
    print_table([*SCORE_COLUMNS, "ar"], rows, f"{describe(tried)}; {among}")


def _command(arguments: argparse.Namespace, strategy: str) -> str:
    """As it can be pasted: the same task, one strategy."""
    words = ["spoor", "simulate", arguments.web, "--strategy", strategy, "--target", arguments.target]
    words += ["--seeds", arguments.seeds, "--judge", arguments.judge]
    words += ["--budget", arguments.budget] if arguments.budget else []
    words += ["--unrecorded", arguments.unrecorded] if arguments.unrecorded else []
    return shlex.join(map(str, words))
