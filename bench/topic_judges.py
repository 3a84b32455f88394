"""How well, and how fast, do judges of a topic tell its pages that need no training or only texts of the field?

Pages about Ebola among pages about other diseases, crime and much else, in the data folder (SPOOR_DATA, default: a
`shared` folder beside the checkout).
"""

from __future__ import annotations

import argparse
import os
import random
import tarfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median
from urllib.parse import unquote

from spoor.cli.terminal import print_table
from spoor.judging.similar_words import learned
from spoor.judging.topic_judges import Gold, Keywords, TagWeighted, VectorSpaceModel, calibrated
from spoor.parse.html import ParseOptions, read_page
from spoor.parse.main_text import QUICK
from spoor.parse.words import Words
from spoor.records import Page
from spoor.roles import Judge

DATA = Path(os.environ.get("SPOOR_DATA") or Path(__file__).resolve().parents[2] / "shared")
ARCHIVE = DATA / "data" / "example-pages" / "ebola.tar.xz"
LISTS = (("ebola",), ("ebola", "virus", "outbreak", "hemorrhagic fever"))
FOLDS = 5
TERMS = 100
SPEED_TEST = 20_000
"""Characters of the page on which judges are timed."""

Marked = list[tuple[Page, bool]]


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench topic-judges", description=__doc__)
    parser.add_argument("--golds", type=int, default=20, metavar="N", help="documents that are tried as gold (20)")
    arguments = parser.parse_args(options)
    if not ARCHIVE.exists():
        print(f"topic-judges: no example pages at {ARCHIVE}; set SPOOR_DATA to the folder that has them")
        return
    pages = read(ARCHIVE)
    rows = [row(f"{name}:{'+'.join(words)}", make(words), pages) for name, make in NAMED for words in LISTS]
    rows.append(gold_row(pages, arguments.golds))
    rows += [field_row(pages, semantic) for semantic in (False, True)]
    columns = ("judge", "F1", "precision", "recall", f"ms for {SPEED_TEST // 1000} kB of text")
    print_table(
        columns, rows, f"{len(pages)} pages, {sum(relevant for _, relevant in pages)} of them wanted; main texts"
    )


NAMED: tuple[tuple[str, Callable[[tuple[str, ...]], Judge]], ...] = (
    ("keywords", Keywords),
    ("tag-weighted", TagWeighted),
)


def read(archive: Path) -> Marked:
    pages: Marked = []
    with tarfile.open(archive) as opened:
        for member in opened:
            if (file := opened.extractfile(member)) is not None:
                url = unquote(Path(member.name).name)
                page = read_page(url, file.read(), "text/html", parse_options=ParseOptions(QUICK))
                pages.append((page, "/positive/" in member.name))
    return pages


def row(name: str, judge: Judge, pages: Marked) -> tuple[str, ...]:
    said = [verdict.relevant for verdict in judge.judge([page for page, _ in pages])]
    return name, *told(said, [relevant for _, relevant in pages]), f"{milliseconds(judge, pages):.2f}"


def gold_row(pages: Marked, most: int) -> tuple[str, ...]:
    """The middle one of many documents, each tried by itself."""
    good = [page for page, relevant in pages if relevant and len(page.main_text) > 1_000]
    random.Random(1).shuffle(good)
    rows = [row("gold", Gold("gold", text(page)), pages) for page in good[:most]]
    middle = median_low_by_f1(rows)
    return f"gold, median of {len(rows)} documents", *middle[1:]


def median_low_by_f1(rows: list[tuple[str, ...]]) -> tuple[str, ...]:
    return sorted(rows, key=lambda one: one[1])[(len(rows) - 1) // 2]


def field_row(pages: Marked, semantic: bool) -> tuple[str, ...]:
    """Four fifths of the pages teach, the rest are judged, in turn; the threshold is calibrated on those that teach."""
    shuffled = random.Random(1).sample(pages, len(pages))
    said: list[bool] = []
    true: list[bool] = []
    cost: list[float] = []
    for fold in range(FOLDS):
        rest, teach = shuffled[fold::FOLDS], [one for k, one in enumerate(shuffled) if k % FOLDS != fold]
        texts, others = ([text(page) for page, relevant in teach if relevant is kind] for kind in (True, False))
        field = learned(texts, others, Words(), semantic)
        judge = VectorSpaceModel("field", field.topic(TERMS), calibrated(field, TERMS, texts, others))
        said += [verdict.relevant for verdict in judge.judge([page for page, _ in rest])]
        true += [relevant for _, relevant in rest]
        cost.append(milliseconds(judge, pages))
    return f"vsm:semantic={semantic}, {FOLDS}-fold", *told(said, true), f"{mean(cost):.2f}"


def text(page: Page) -> str:
    return f"{page.title}\n{page.main_text or page.text}"


def told(said: Sequence[bool], true: Sequence[bool]) -> tuple[str, str, str]:
    hits = sum(one and other for one, other in zip(said, true, strict=True))
    precision, recall = hits / max(1, sum(said)), hits / max(1, sum(true))
    return f"{2 * hits / max(1, sum(said) + sum(true)):.3f}", f"{precision:.3f}", f"{recall:.3f}"


def milliseconds(judge: Judge, pages: Marked) -> float:
    """Of processor time for a page, the middle of several that are cut to the same length."""
    long = [page for page, relevant in pages if relevant and len(page.text) > SPEED_TEST][:9]
    times = []
    for page in long:
        cut = Page(page.url, title=page.title, text=page.text[:SPEED_TEST], tag_texts=page.tag_texts)
        begun = time.process_time()
        judge.judge([cut])
        times.append(time.process_time() - begun)
    return 1000 * median(times)
