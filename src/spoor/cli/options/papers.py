"""Options of `spoor reproduce`."""

from __future__ import annotations

import argparse
from pathlib import Path

from spoor.cli.command import Commands, add_command, add_json, add_workers

EXAMPLES = """
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
"""Of the acceptance run of each paper."""


def register_reproduce(commands: Commands) -> None:
    parser = add_command(commands, "reproduce", "run the experiment of a paper again", EXAMPLES)
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
    examples = "\n".join(line for line in EXAMPLES.splitlines() if f" {name}" in line)
    paper = add_command(papers, name, summary, examples, f"experiments.run_{name.replace('-', '_')}")
    seeds, pages = SEEDS_AND_PAGES[name]
    paper.add_argument("--seeds", default=seeds, metavar="A-B", help=f"seeds of the webs to generate ({seeds})")
    paper.add_argument("--pages", type=int, default=pages, metavar="N", help=f"pages of a web ({pages})")
    paper.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep the webs there and reuse them (default: a temporary folder)"
    )
    paper.add_argument(
        "--plot", type=Path, metavar="FILE.svg", help="draw the paper's figures there, published numbers beside ours"
    )
    add_workers(paper)
    add_json(paper)
    return paper
