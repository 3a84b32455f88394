"""How many URLs of a real crawl's traps, and how many of its good pages, would have been fetched?"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spoor.cli.terminal import print_table
from spoor.ordering.traps import Traps
from spoor.parse.simhash import text_fingerprint
from spoor.records import Link, Page, Sighting, Verdict, Visit
from spoor.urls import canonical, host_of, normalise

DATA = Path(os.environ.get("SPOOR_DATA") or Path(__file__).resolve().parents[2] / "shared") / "data"
ASSUMED = """\
Assumed, for there are URLs only: each is offered once, in the order of the file; every trap page says the same as the
others of its host, every good page something new. The lists were sorted by a student's rules, and they overlap."""


@dataclass(frozen=True)
class Tally:
    """What became of a list of URLs. `lines` counts what is a URL, `distinct` after canonicalisation."""

    lines: int
    distinct: int
    fetched: int
    dropped: int
    parked: int


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench traps", description=__doc__)
    parser.add_argument("--patience", type=int, default=Traps.patience, metavar="N", help="pages without yield")
    arguments = parser.parse_args(options)
    if not (DATA / "trap-urls.txt").is_file():
        print(f"traps: no trap-urls.txt in {DATA}; set SPOOR_DATA to the folder that has data/")
        return
    lists = {name: urls(DATA / f"{name}-urls.txt") for name in ("trap", "good")}
    rows = [row(name, crawl(found, arguments.patience, new=name == "good")) for name, found in lists.items()]
    print(ASSUMED)
    print_table(("list", "URLs", "distinct", "fetched", "share", "dropped", "parked"), rows, "trap protection")
    both = set(map(canonical, lists["trap"])) & set(map(canonical, lists["good"]))
    print(f"{len(both)} distinct URLs are in both lists.")


def urls(path: Path) -> list[str]:
    found = map(normalise, path.read_text("utf8", "replace").splitlines())
    return [url for url in found if url is not None]


def crawl(offered: Sequence[str], patience: int, new: bool) -> Tally:
    traps, became = Traps(patience), Counter[str]()
    distinct = dict.fromkeys(map(canonical, offered))
    for number, url in enumerate(distinct):
        decision = traps.at_offer(Link(url), {}, None).decision
        became[decision] += 1
        if decision == "admit":
            visit = Visit(url, host_of(url), number, 0.0)
            page = Page(
                url, text_fingerprint=text_fingerprint(letters_of(url) if new else "what every page of this host says")
            )
            traps.learn(Sighting(visit, page, Verdict(0.0, False, "unknown"), None))
    return Tally(len(offered), len(distinct), became["admit"], became["drop"], became["park"])


def letters_of(url: str) -> str:
    """A text that no other URL has; not made of digits, for those make no difference."""
    return "".join(chr(ord("a") + byte % 26) for byte in hashlib.sha512(url.encode()).digest())


def row(name: str, tally: Tally) -> list[str]:
    share = f"{tally.fetched / tally.distinct:.1%}"
    counts = (tally.lines, tally.distinct, tally.fetched)
    return [name, *(f"{count:,}" for count in counts), share, f"{tally.dropped:,}", f"{tally.parked:,}"]
