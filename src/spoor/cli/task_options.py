"""The options by which `simulate` and `compare` are told what to do."""

from __future__ import annotations

import argparse
from pathlib import Path

from spoor.course import Task, read_seeds
from spoor.errors import UsageError
from spoor.webs.network import Conditions


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
