"""How well and how fast are main texts found? The three extractors on news articles, beside texts made by hand."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import mean
from time import process_time

from spoor.cli.terminal import print_table
from spoor.parse.charset import decode
from spoor.parse.main_text import BEST, NODE_RATIO, QUICK, Extractor
from spoor.parse.published import published

DATA = Path(os.environ.get("SPOOR_DATA") or Path(__file__).resolve().parents[2] / "shared") / "data" / "extraction"
EXTRACTORS = {
    "node ratio, as paper 002 does it": NODE_RATIO,
    "quick (resiliparse), for every page": QUICK,
    "best (trafilatura), for kept pages": BEST,
}
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class GoldPage:
    """A page and what a person says is its main text."""

    url: str
    html: str
    text: str


@dataclass(frozen=True)
class Marks:
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench extraction", description=__doc__)
    parser.parse_args(options)
    if not DATA.is_dir():
        print(f"extraction: no gold texts in {DATA}; set SPOOR_DATA to the folder that has data/extraction")
        return
    pages = gold_pages()
    columns = ("extractor", "precision", "recall", "F1", "worst tenth F1", "ms a page")
    print_table(columns, [row(*named, pages) for named in EXTRACTORS.items()], f"main texts of {len(pages)} pages")
    print_table(("date of publication", "pages"), dated(pages), f"when {len(pages)} pages say they were published")


def gold_pages() -> list[GoldPage]:
    gold = json.loads((DATA / "ground-truth.json").read_text("utf8"))
    return [GoldPage(told["url"], html_of(name), told["articleBody"]) for name, told in sorted(gold.items())]


def html_of(name: str) -> str:
    return decode(gzip.decompress((DATA / "html" / f"{name}.html.gz").read_bytes()), "text/html").text


def row(name: str, extractor: Extractor, pages: Sequence[GoldPage]) -> tuple[str, ...]:
    extractor.extract(pages[0].html)
    began = process_time()
    found = [extractor.extract(page.html, page.url) for page in pages]
    taken = process_time() - began
    marks = [agreement(one.text, page.text) for one, page in zip(found, pages, strict=True)]
    f1 = sorted(each.f1 for each in marks)
    worst = f1[: len(f1) // 10]
    means = (mean(each.precision for each in marks), mean(each.recall for each in marks), mean(f1), mean(worst))
    return name, *(f"{value:.3f}" for value in means), f"{1000 * taken / len(pages):.1f}"


def agreement(found: str, gold: str) -> Marks:
    """Of the words, each as often as it occurs, whatever their order."""
    ours, theirs = words(found), words(gold)
    common = (ours & theirs).total()
    return Marks(common / max(1, ours.total()), common / max(1, theirs.total()))


def words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.casefold()))


def dated(pages: Sequence[GoldPage]) -> list[tuple[str, str]]:
    """The date in the URL, where there is one, is a witness for the others."""
    by_page = [published(page.html) for page in pages]
    by_url = [published("", page.url) for page in pages]
    both = [(one, other) for one, other in zip(by_page, by_url, strict=True) if one and other]
    near = sum(abs((date.fromisoformat(one) - date.fromisoformat(other)).days) <= 1 for one, other in both)
    return [
        ("told by the page itself", str(sum(map(bool, by_page)))),
        ("told by page or URL", str(sum(bool(one or other) for one, other in zip(by_page, by_url, strict=True)))),
        ("told by both", str(len(both))),
        ("of these at most a day apart", str(near)),
    ]
