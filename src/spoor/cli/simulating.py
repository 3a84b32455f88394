"""`spoor simulate`, `compare` and `tune`: strategies on a web, with or without a virtual clock."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from typing import Any

from spoor import registry
from spoor.cli.terminal import (
    SCORE_COLUMNS,
    announced,
    check_writable,
    print_table,
    progress,
    say,
    score_row,
    score_table,
    write_json,
    write_text,
)
from spoor.compiled import prepare
from spoor.crawling.share import BUCKETS
from spoor.errors import UsageError
from spoor.lab.comparison import Comparison, Objective, compare, grid, simplex, simulation, tune, value, workers
from spoor.lab.measures import Information, Timing, information
from spoor.lab.plots import plot_scores
from spoor.lab.runs import kernels_for, prepared_task
from spoor.lab.task import Task, read_seeds
from spoor.lab.worlds import NAMED, Conditions
from spoor.result_files import is_standard_output

# Options of `simulate` and `compare` that define the task.


def task_from(arguments: argparse.Namespace, conditions: Conditions | None = None) -> Task:
    """`conditions` None means lab conditions."""
    if arguments.budget is not None and arguments.budget < 1:
        raise UsageError(f"--budget {arguments.budget}: at least one visit is needed")
    if arguments.per_host is not None and arguments.per_host < 1:
        raise UsageError(f"--per-host {arguments.per_host}: at least one page is needed; leave it out for no limit")
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
        sitemaps=arguments.sitemaps,
    )


def names_in(text: str) -> list[str]:
    """Strategies, separated by commas."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError(f"--strategies {text!r} names no strategy; `spoor strategies` lists them")
    return names


def shards_in(text: str) -> list[int]:
    """Numbers of shards, separated by commas."""
    try:
        numbers = [int(number) for number in text.split(",") if number.strip()]
    except ValueError:
        raise UsageError(f"--shards {text}: give numbers, separated by commas, as in 1,4,8") from None
    if numbers and not 1 <= min(numbers) <= max(numbers) <= BUCKETS:
        raise UsageError(f"--shards {text}: a crawl has 1 to {BUCKETS} shards")
    return list(dict.fromkeys(numbers))


# Options of `simulate` and `compare` that define the conditions.


def conditions_from(arguments: argparse.Namespace) -> Conditions | None:
    """None means lab conditions."""
    named = NAMED[arguments.conditions]
    if named is None and not arguments.clock:
        return None
    given = {name: getattr(arguments, name) for name in ("connections", "rest", "latency", "bandwidth", "failures")}
    check_conditions(given)
    if arguments.driver == "compiled":
        option = "--clock" if named is None else f"--conditions {arguments.conditions}"
        raise UsageError(f"{option} needs the simulated driver; leave out --driver compiled")
    given["delay"] = given.pop("rest")
    given |= {"seed": arguments.seed, "open_web": arguments.unrecorded and arguments.unrecorded == "fail"}
    return replace(named or Conditions(), **{name: value for name, value in given.items() if value is not None})


def check_conditions(given: dict[str, Any]) -> None:
    """`given` has values by option name; None if not given."""
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


def run_simulate(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json)
    task, strategy = task_from(arguments, conditions_from(arguments)), arguments.strategy
    prepare(kernels_for(task, [strategy]), announced)
    orders = arguments.orders or 1
    budget = prepared_task(task).yardstick.budget * len(prepared_task(task).seed_orders(orders))
    with progress(strategy, budget if task.conditions else None) as advance:
        done = simulation(task, strategy, orders, advance)
    score, first = done.score, done.runs[0]
    collected = information(first, first.timing.elapsed if first.timing else None)
    if not is_standard_output(arguments.json):
        print_table(*score_table([score]))
        if first.timing:
            _show_timing(first.timing)
        _show_information(collected)
    if arguments.json:
        clock = {"clock": first.timing.as_json()} if first.timing else {}
        results = score.as_json() | clock | {"information": collected.as_json()}
        write_json(arguments.json, results)
    return 0


def _show_timing(timing: Timing) -> None:
    polite = timing.politeness
    print(f"virtual time   {timing.elapsed:,.1f} s, {timing.pages_per_second:,.2f} pages/s")
    kept = "no host twice" if polite.tightest is None else f"tightest {polite.tightest:.3f} of the delay due"
    soon = f"{len(polite.violations)} too soon ({kept})"
    print(f"politeness     {polite.visits:,} visits to {polite.hosts:,} hosts, {soon}")


def _show_information(collected: Information) -> None:
    everything, kept = collected.downloaded, collected.stored
    parts = [f"IS {everything.total:,.1f} MB = AIS {everything.accurate:,.1f} + FIS {everything.fault:,.1f}"]
    parts += [] if everything.accuracy is None else [f"AR {everything.accuracy:.3f}"]
    parts += [] if kept.accuracy is None else [f"AR of the {kept.pages:,} stored {kept.accuracy:.3f}"]
    parts += [] if collected.speed is None else [f"CS {collected.speed:,.1f} MB/h"]
    print(f"information    {'; '.join(parts)}")


# `spoor compare`: several strategies on one web.


def run_compare(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json, arguments.plot)
    task = task_from(arguments, conditions_from(arguments))
    strategies = names_in(arguments.strategies)
    prepare(kernels_for(task, strategies), announced)
    orders = arguments.orders or 1
    shards = shards_in(arguments.shards)
    variants = len(set(strategies) - {"oracle"}) * max(1, len(shards)) + 1
    runs = variants * len(prepared_task(task).seed_orders(orders))
    with workers(arguments.workers) as pool, progress("runs", runs) as advance:
        comparison = compare(task, strategies, pool, advance, orders, shards)
    if not is_standard_output(arguments.json):
        show(comparison)
    if arguments.json:
        write_json(arguments.json, comparison.as_json())
    if arguments.plot:
        write_text(arguments.plot, plot_scores(comparison.scores, comparison.yardstick, describe(comparison)))
    return 0


def describe(comparison: Comparison) -> str:
    against = comparison.yardstick
    reach = f"{against.relevant:,} of {comparison.reachable:,} reachable pages are relevant"
    return f"{comparison.task.target} in {comparison.task.web.name}: {reach}, budget {against.budget:,} visits"


def show(comparison: Comparison) -> None:
    print_table(*score_table(comparison.scores), describe(comparison))


# `spoor tune`: searches for the best parameters of a strategy on a web.


SHOWN = 10


def run_tune(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json)
    strategies = _combinations(arguments)
    task = task_from(arguments)
    prepare(kernels_for(task, strategies), announced)
    with workers(arguments.workers) as pool, progress("combinations", len(strategies) + 1) as advance:
        tried = tune(task, strategies, arguments.objective, pool, advance)
    if not is_standard_output(arguments.json):
        _show_tuning(tried, arguments.objective)
        say(f"\nrun the best with:\n  {_command(arguments, tried.scores[0].strategy)}")
    if arguments.json:
        write_json(arguments.json, tried.as_json() | {"objective": arguments.objective})
    return 0


def _combinations(arguments: argparse.Namespace) -> list[str]:
    """Raises for parameters that no strategy accepts before anything runs."""
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
    """The command to paste: the same task, one strategy."""
    words = ["spoor", "simulate", arguments.web, "--strategy", strategy, "--target", arguments.target]
    words += ["--seeds", arguments.seeds, "--judge", arguments.judge]
    words += ["--budget", arguments.budget] if arguments.budget else []
    words += ["--unrecorded", arguments.unrecorded] if arguments.unrecorded else []
    words += ["--sitemaps"] if arguments.sitemaps else []
    return shlex.join(map(str, words))
