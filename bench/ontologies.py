"""How well, and how fast, does an ontology tell the pages of a field? The ACM Computing Classification System on the
recorded webs that `spoor contest` builds. It is in the data folder (SPOOR_DATA, default: a `shared` folder beside the
checkout)."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from spoor.cli.terminal import print_table
from spoor.judging.held_out import accuracy, f1
from spoor.judging.ontology_files import Choice, open_ontology
from spoor.judging.ontology_judge import OntologyTerms
from spoor.judging.term_finder import OVERLAPS, Finder
from spoor.lab.web import TEXTS, Web
from spoor.records import Page

DATA = Path(os.environ.get("SPOOR_DATA") or Path(__file__).resolve().parents[2] / "shared")
ONTOLOGY = DATA / "data" / "acm-ccs-2012.skos.xml"
ROWS = (
    ("wikispeedia", "subject.IT", ""),
    ("wikispeedia", "subject.IT.Computer_Programming", "Software notations and tools"),
    ("wikispeedia", "subject.IT.Computing_hardware_and_infrastructure", "Hardware"),
    ("wikispeedia", "subject.IT.Websites_and_the_Internet", "World Wide Web"),
    ("wikispeedia", "subject.IT.Cryptography", "Cryptography"),
    ("webkb", "class=project", ""),
    ("webkb", "class=course", ""),
)
"""Web, label, concept."""


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench ontologies", description=__doc__)
    parser.add_argument("--webs", type=Path, default=Path("out/contest/webs"), metavar="DIR", help="(out/contest/webs)")
    webs = parser.parse_args(options).webs
    if not ONTOLOGY.exists() or not all((webs / web).is_dir() for web, _, _ in ROWS):
        print(f"ontologies: needs {ONTOLOGY}, and the webs of `spoor contest` at {webs}")
        return
    begun = time.process_time()
    open_ontology(ONTOLOGY)
    print(f"reading {ONTOLOGY.name} takes {time.process_time() - begun:.1f} s")
    columns = ("web", "label", "concept", "overlap", "forms", "wanted", "F1", "precision", "recall", "ms a page")
    rows = []
    for folder, of_web in groupby(ROWS, key=lambda row: webs / row[0]):
        web = Web.open(folder)
        pages = list(pages_of(web))
        rows += [row(web, pages, label, concept, way) for _, label, concept in of_web for way in OVERLAPS]
    print_table(columns, rows)


def row(web: Web, pages: Sequence[Page], label: str, concept: str, overlap: str) -> tuple[str, ...]:
    judge = OntologyTerms(Finder(open_ontology(ONTOLOGY, Choice(concept)), overlap))
    begun = time.process_time()
    taken = np.array([verdict.relevant for verdict in judge.judge(pages)])
    each = 1000 * (time.process_time() - begun) / len(pages)
    found = accuracy(taken, web.labelled(label))
    figures = (f1(found), found.precision or 0.0, found.recall or 0.0)
    counts = (f"{len(judge.finder.ontology.terms):,}", f"{web.labelled(label).sum():,} of {web.pages:,}")
    return web.name, label, concept or "all", overlap, *counts, *(f"{one:.3f}" for one in figures), f"{each:.1f}"


def pages_of(web: Web) -> Iterator[Page]:
    for number in range(web.pages):
        yield Page(web.urls[number], **dict(zip(TEXTS, web.texts[number] or (), strict=False)))
