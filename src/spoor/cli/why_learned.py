"""What moved a link in a crawl by `learned`: evidence by evidence, and feature by feature."""

from __future__ import annotations

import contextlib
import math
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from spoor import assembly, config
from spoor.cli.progress import counted, progress
from spoor.config import Config
from spoor.errors import SpoorError
from spoor.frontier.entry import Entry
from spoor.live import canonical_links
from spoor.parse.html import read_page
from spoor.recollection import earlier_crawl, recall, restore, warm_name
from spoor.records import Page, WaitingLink
from spoor.report.why import Account
from spoor.score.learned import Learned
from spoor.score.learned.naming import named_features
from spoor.session import strategy_of
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.journal import PageRow, count_lessons, numbered_lessons, open_to_read, pages_of
from spoor.store.messages import message_of
from spoor.webs.build.http_response import take_apart

PLAIN = {
    "words": "its words",
    "always": "every link",
    "relevance": "relevance of pages that link to it",
    "share": "share of wanted pages among those that link to it",
    "relevant_parents": "number of wanted pages that link to it",
    "parents": "number of pages that link to it",
    "since": "unwanted pages in a row",
    "place": "its place",
    "hub": "the page it stands on",
    "list": "its list there",
    "signs": "what was foretold",
}
"""What the evidence is called in a sentence."""
LEAST = 0.005
"""Log odds that would be shown as nothing."""


@dataclass(frozen=True, slots=True)
class Worth:
    """Why a link is worth what it is, in log odds: by evidence, and its evidence `words` by feature. `visited`: as it
    was when its turn came, not as it is now. `nameless` says why features have no names, "" when they have."""

    visited: bool
    shares: Mapping[str, float]
    words: Mapping[str, float]
    nameless: str


def lines(folder: CrawlFolder, told: Account) -> Iterator[tuple[str, str]]:
    """What is told, and what there is to tell of it. Nothing where another strategy crawled, or where there is no link
    to speak of: a seed, a URL that never waited."""
    if told.entry is None or not told.entry.hints:
        return
    try:
        settings = config.loads(folder.settings() or "", folder.path)
        if assembly.strategy_named(settings.crawl.strategy)[0] == "learned":
            yield from _told(worth(folder, settings, told))
    except SpoorError as refused:
        yield "moved by", f"not known, because what was learned cannot be learned again: {refused}"


def worth(folder: CrawlFolder, settings: Config, told: Account) -> Worth:
    """By what was known when its turn came, or is known now if the link still waits: from a snapshot of that time, and
    from the visits that the crawl has kept."""
    entry, strategy = told.entry, strategy_of(settings)
    scorer = strategy.scorer
    assert entry is not None and isinstance(scorer, Learned)
    earlier = earlier_crawl(settings, strategy, folder)
    with contextlib.closing(open_to_read(folder.database)) as db:
        _relearn(scorer, folder, earlier, db, told.pages[0] if told.pages else None)
        link = WaitingLink(entry.url, entry.evidence, entry.trail, entry.hints)
        evidence = entry.evidence if told.pages else scorer.review(link)
        names, nameless = _names(folder, scorer, db, entry)
    said = {names.get(number, f"feature {number}"): share for number, share in scorer.word_shares(entry.hints).items()}
    return Worth(bool(told.pages), scorer.shares(evidence), said, nameless)


def _relearn(
    scorer: Learned, folder: CrawlFolder, earlier: CrawlFolder | None, db: sqlite3.Connection, chosen: PageRow | None
) -> None:
    """What was known when the visit to a page was chosen; None: everything. A snapshot of the same moment might hold
    more than was known."""
    before = math.inf if chosen is None else chosen.started
    restored = restore([scorer], folder.snapshots, db, warm_name(earlier), before)
    if earlier is not None and not restored.knows(scorer):
        with contextlib.closing(open_to_read(earlier.database)) as other:
            _recall(scorer, other, 0)
    _recall(scorer, db, restored.number if restored.knows(scorer) else 0, chosen)


def _recall(scorer: Learned, db: sqlite3.Connection, after: int, chosen: PageRow | None = None) -> None:
    """From rows of the journal after that number which had come when the visit was chosen. A visit that began later
    cannot have been over by then, even if the clock had not moved."""
    until, number = (math.inf, math.inf) if chosen is None else (chosen.started, chosen.number)
    with progress("learning again from visits", count_lessons(db, after)) as advance:
        for _, lesson in counted(numbered_lessons(db, after, until), advance):
            if lesson.visit.number < number:
                recall(scorer, lesson)


def _names(folder: CrawlFolder, scorer: Learned, db: sqlite3.Connection, entry: Entry) -> tuple[dict[int, str], str]:
    """Features and what they are called, read again from the page whose link it is; and why not, if that fails."""
    url = entry.trail[1]
    page = _page(folder, db, url)
    if page is None:
        return {}, f"{url} is not in the archive, or cannot be read any more"
    for link, hints in zip(page.links, scorer.hints(page, page.links) if page.links else (), strict=True):
        if hints == entry.hints:
            return named_features(page, link, scorer.without), ""
    return {}, f"{url} as it was kept has no such link"


def _page(folder: CrawlFolder, db: sqlite3.Connection, url: str) -> Page | None:
    """As it was read when it was visited."""
    rows = pages_of(db, url)
    message = message_of(folder, db, rows[-1]) if rows else None
    http = None if message is None else take_apart(message)
    if http is None:
        return None
    page = read_page(url, http.body, http.headers.get("content-type", ""), http.status)
    return replace(page, links=canonical_links(page))


def _told(worth: Worth) -> Iterator[tuple[str, str]]:
    when = "when its turn came" if worth.visited else "by what is known now"
    shares = {PLAIN[name]: share for name, share in worth.shares.items()}
    yield "moved by", f"{_listed(shares)}; {_signed(sum(worth.shares.values()))} in all, {when}"
    if any(abs(share) >= LEAST for share in worth.words.values()):
        yield "its words", _listed(worth.words) + (f" (no names: {worth.nameless})" if worth.nameless else "")


def _listed(shares: Mapping[str, float]) -> str:
    """The largest first, for or against; what would be shown as nothing is left out."""
    largest = sorted(shares.items(), key=lambda item: -abs(item[1]))
    return ", ".join(f"{name} {_signed(share)}" for name, share in largest if abs(share) >= LEAST)


def _signed(share: float) -> str:
    return f"{share:+.2f}".replace("-", "−")
