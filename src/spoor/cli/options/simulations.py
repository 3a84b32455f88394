"""Options of `spoor simulate`, `compare`, `tune`, `contest` and `reproduce`."""

from __future__ import annotations

import argparse
from pathlib import Path

from spoor.cli.command import (
    Commands,
    add_command,
    add_json,
    add_json_file,
    add_plot,
    add_several,
    add_speeds,
    add_web,
    add_workers,
    at_least_one,
    new_folder,
)

SIMULATE_EXAMPLES = """
spoor web generate --like thai --pages 30000 --seed 1 --out thai-web
spoor simulate thai-web --strategy soft-focused --target relevant --seeds thai-web/seeds.txt
spoor simulate thai-web --strategy soft-focused --target relevant --seeds thai-web/seeds.txt \\
    --clock --connections 32 --rest 1 --failures 0.02 --json soft.json
spoor simulate thai-web --strategy soft-focused --target relevant --seeds thai-web/seeds.txt --conditions field
"""

COMPARE_EXAMPLES = """
spoor web generate --like thai --pages 30000 --seed 1 --out thai-web
spoor compare thai-web --target relevant --seeds thai-web/seeds.txt --strategies breadth-first,soft-focused
spoor compare thai-web --target relevant --seeds thai-web/seeds.txt --judge charset:th \\
    --strategies hard-focused,limited-distance:n=2,prioritised-limited-distance:n=2 --json r.json --plot r.svg
spoor compare thai-web --target relevant --seeds thai-web/seeds.txt --strategies breadth-first,soft-focused \\
    --conditions field --orders 5
spoor compare thai-web --target relevant --seeds thai-web/seeds.txt --strategies learned --shards 1,4,8 --orders 5
"""

TUNE_EXAMPLES = """
spoor web generate --like mongolian --text --pages 5000 --seed 1 --out mongolian-web
spoor tune mongolian-web --strategy n-crawl:language=mn-Mong --target relevant \\
    --seeds mongolian-web/seeds.txt --budget 300 --simplex t,s,d --step 0.25
spoor tune mongolian-web --strategy prioritised-limited-distance --target relevant \\
    --seeds mongolian-web/seeds.txt --vary n=0,1,2,3,4 --objective normalised
"""

CONTEST_EXAMPLES = """
spoor contest --out out/contest
spoor contest --rows webkb,debian-docs/lang=ja --strategies breadth-first,soft-focused,in-links --out out/contest
spoor contest --judge real --strategies soft-focused,server-language --ablate server-language --out out/contest
spoor contest --conditions field --orders 3 --judge truth --strategies learned,soft-focused --out out/contest
spoor contest --per-host 100,10 --page docs/contest.md --out out/contest
spoor contest --held-out --out out/contest
"""

CONDITIONS = ("field", "lab")
OBJECTIVES = ("ar", "normalised")
CONTEST_JUDGES = ("truth", "real", "both")
CONTEST_ORDERS = 5
"""Number of seed orders for every row: the order of the seeds alone changes a result by up to 0.19."""
MOST_COMBINATIONS = 500


def register_simulate(commands: Commands) -> None:
    summary = "run one strategy on a web"
    parser = add_command(commands, "simulate", summary, SIMULATE_EXAMPLES, "simulating.run_simulate")
    _add_task(parser)
    parser.add_argument("--strategy", required=True, metavar="S", help="a name from `spoor strategies`")
    add_json_file(parser, "the result")
    _add_conditions(parser)


def register_compare(commands: Commands) -> None:
    summary = "run several strategies on a web, and compare what they find and how soon"
    parser = add_command(commands, "compare", summary, COMPARE_EXAMPLES, "simulating.run_compare")
    _add_task(parser)
    _add_conditions(parser)
    parser.add_argument("--strategies", required=True, metavar="A,B,…", help="names from `spoor strategies`")
    parser.add_argument(
        "--shards", default="", metavar="N,…", help="run each as one crawl of N shards, for every N (docs/scale-out.md)"
    )
    add_json_file(parser, "the results")
    add_plot(parser, "harvest, coverage and queue length over fetches")
    add_workers(parser)


def register_tune(commands: Commands) -> None:
    summary = "search for the parameters of a strategy that are best on a web"
    parser = add_command(commands, "tune", summary, TUNE_EXAMPLES, "simulating.run_tune")
    _add_task(parser)
    parser.add_argument("--strategy", required=True, metavar="S", help="a name from `spoor strategies`")
    parser.add_argument("--simplex", metavar="A,B,…", help="parameters that are weights and add up to 1")
    parser.add_argument("--step", type=float, default=0.1, metavar="X", help="step between two weights (0.1)")
    add_several(parser, "--vary", "NAME=V,V,…", "values to try", default=[])
    parser.add_argument(
        "--objective",
        choices=OBJECTIVES,
        default="ar",
        help="rank by accuracy rate at the budget (ar, the default) or by normalised area",
    )
    usual = MOST_COMBINATIONS
    parser.add_argument(
        "--most", type=int, default=usual, metavar="N", help=f"refuse to try more combinations ({usual})"
    )
    add_json_file(parser, "all results, best first,")
    add_workers(parser)


def register_contest(commands: Commands) -> None:
    summary = "run every strategy on every row of a contest"
    parser = add_command(commands, "contest", summary, CONTEST_EXAMPLES, "contests.run_contest")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder with contest/contest.tsv and webs/ ($SPOOR_DATA, ../shared)"
    )
    parser.add_argument(
        "--out",
        type=new_folder,
        required=True,
        metavar="FOLDER",
        help="output folder for webs, runs, results.json and report.md",
    )
    parser.add_argument("--rows", metavar="ROW,…", help="WEB, WEB/TARGET or WEB/TARGET/START (default: all)")
    parser.add_argument("--strategies", metavar="A,B,…", help="names (default: all that can run on a row)")
    parser.add_argument("--ablate", metavar="S", help="also run strategy S without each kind of its evidence")
    parser.add_argument(
        "--judge",
        choices=CONTEST_JUDGES,
        default="both",
        help="truth: the label; real: a language judge, or one trained on half of the pages (default: both)",
    )
    parser.add_argument(
        "--conditions", metavar="C,…", help="field: as in a live crawl; lab: one fetch at a time (field,lab)"
    )
    _add_orders(parser, CONTEST_ORDERS)
    parser.add_argument("--per-host", default="", metavar="N,…", help="also run with at most N pages per host")
    parser.add_argument("--page", type=Path, metavar="FILE.md", help="put tables and plots at their marks in this page")
    parser.add_argument(
        "--held-out",
        action="store_true",
        help="instead run path models, trained on one half of each web and tested on the other",
    )
    parser.add_argument("--fresh", action="store_true", help="discard the runs in FOLDER")
    add_workers(parser)
    add_json(parser)


def _add_task(parser: argparse.ArgumentParser) -> None:
    add_web(parser)
    parser.add_argument("--target", required=True, metavar="LABEL", help="label of the relevant pages, such as lang=ja")
    parser.add_argument("--seeds", required=True, type=Path, metavar="FILE", help="where to start: one URL per line")
    parser.add_argument(
        "--judge", default="truth", metavar="J", help="truth (default), language:th, a model, a crawl.toml …"
    )
    parser.add_argument(
        "--budget", type=int, metavar="N", help="fetches (default: four per reachable relevant page, at least 200)"
    )
    parser.add_argument(
        "--per-host", type=int, metavar="N", help="largest number of pages of one host (default: no limit)"
    )
    parser.add_argument(
        "--unrecorded",
        choices=("skip", "fail"),
        help="links to unrecorded pages: left out (skip, as in the lab) or failed fetches (fail)",
    )
    parser.add_argument(
        "--sitemaps", action="store_true", help="fetch the recorded sitemaps of hosts with relevant pages"
    )
    parser.add_argument(
        "--driver",
        choices=("auto", "simulated", "compiled"),
        default="auto",
        help="compiled is for large webs without texts; both fetch the same pages in the same order",
    )


def _add_conditions(parser: argparse.ArgumentParser) -> None:
    """Defaults are in the help text only; the command takes them from `lab.worlds`."""
    parser.add_argument(
        "--conditions",
        choices=CONDITIONS,
        default="lab",
        help="lab (default): one fetch at a time in a closed web, nothing takes time; field: as in a live crawl",
    )
    _add_orders(parser, 1)
    clock = parser.add_argument_group("virtual clock", "given values override those of --conditions field")
    clock.add_argument("--clock", action="store_true", help="fetches take virtual time; hosts have a crawl delay")
    clock.add_argument("--connections", type=int, metavar="N", help="concurrent fetches (16; in the field 64)")
    clock.add_argument("--rest", type=float, metavar="S", help="crawl delay of a host in seconds (1)")
    add_speeds(clock)
    clock.add_argument(
        "--failures", type=float, metavar="P", help="share of fetches that time out (0; in the field 0.02)"
    )
    clock.add_argument(
        "--clock-seed", type=int, metavar="K", dest="seed", help="random seed for speeds and failures (0)"
    )


def _add_orders(parser: argparse.ArgumentParser, usual: int) -> None:
    """The value is None if the option is absent."""
    parser.add_argument(
        "--orders",
        type=at_least_one,
        metavar="N",
        help=f"run from N orders of the seeds; figures are means ({usual})",
    )


REPRODUCE_EXAMPLES = """
spoor reproduce language-specific
spoor reproduce language-specific --seeds 1-3 --keep webs
spoor reproduce mongolian --seeds 1-3
spoor reproduce correlation --seeds 1-3 --keep webs
spoor reproduce ahmm --seeds 1-3
spoor reproduce core --seeds 1-5 --dictionary english-hindi.tsv
"""

SEEDS_AND_PAGES = {
    "language-specific": ("401-410", 30_000),
    "mongolian": ("401-410", 30_000),
    "correlation": ("401-410", 5_000),
    "ahmm": ("401-410", 20_000),
    "core": ("401-410", 1_000),
}
"""Seeds and pages of the acceptance run of each paper."""


def register_reproduce(commands: Commands) -> None:
    parser = add_command(commands, "reproduce", "reproduce the experiment of a paper", REPRODUCE_EXAMPLES)
    papers = parser.add_subparsers(metavar="PAPER", required=True)
    _add_paper(papers, "language-specific", "language-specific crawling on a simulator (2005)")
    mongolian = _add_paper(papers, "mongolian", "Mongolian pages by hyperlink correlation degree (2014)")
    mongolian.add_argument("--words", type=Path, metavar="FILE", help="Mongolian words for the pages, one per line")
    correlation = _add_paper(papers, "correlation", "pages of a field by correlation analysis (2014)")
    correlation.add_argument("--web", type=Path, metavar="WEB", help="a web with texts, instead of the default one")
    correlation.add_argument("--field", metavar="LABEL", help="label of the relevant pages; goes with --web")
    _add_paper(papers, "ahmm", "a crawler with an adaptive hidden Markov model (2016)")
    core = _add_paper(papers, "core", "an ontology, rules and two languages")
    meaning = "English words, a tab, Hindi senses with | between: for the pages and for the crawler"
    core.add_argument("--dictionary", type=Path, metavar="FILE", help=meaning)
    meaning = "a TOML file with [translate], whose translator the crawler uses instead of the dictionary"
    core.add_argument("--translator", type=Path, metavar="FILE", help=meaning)


def _add_paper(papers: Commands, name: str, summary: str) -> argparse.ArgumentParser:
    examples = "\n".join(line for line in REPRODUCE_EXAMPLES.splitlines() if f" {name}" in line)
    paper = add_command(papers, name, summary, examples, f"experiments.run_{name.replace('-', '_')}")
    seeds, pages = SEEDS_AND_PAGES[name]
    paper.add_argument("--seeds", default=seeds, metavar="A-B", help=f"seeds of the webs to generate ({seeds})")
    paper.add_argument("--pages", type=int, default=pages, metavar="N", help=f"pages of a web ({pages})")
    paper.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep the webs there and reuse them (default: a temporary folder)"
    )
    add_plot(paper, "the paper's figures, with the published numbers")
    add_workers(paper)
    add_json(paper)
    return paper
