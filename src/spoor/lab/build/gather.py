"""Gathers streamed records: one for each URL, packed by worker processes, with texts on disk."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from spoor.lab.bodies import BODIES
from spoor.lab.sitemaps import SITEMAPS
from spoor.lab.web import packed_contexts, packed_texts
from spoor.lab.web_files import BlobWriter
from spoor.records import Failure, Page, Redirect

# A recorded outcome in its stored form. Packed in worker processes, so that texts never accumulate in one place.


@dataclass(frozen=True, slots=True)
class Recorded:
    """The response to a request for a URL. `seconds` is its duration, None if unknown."""

    url: str
    outcome: Page | Redirect | Failure
    seconds: float | None = None
    labels: tuple[str, ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Packed:
    """`page` has neither texts nor links: they are stored separately, compressed (b"" for none). `contexts` correspond
    to `targets`; `body` is what was sent, if it is HTML or a document. `part` states which part of a page the record
    has: all of it, all but the text, only the text, or the rendered page; another record may have the rest. `unread`: a
    document without extractable text. `length` is the text length; `sitemap` the compressed list of URLs if it is a
    sitemap, as in `lab.sitemaps`."""

    page: Page
    targets: tuple[str, ...] = ()
    redirect: str | None = None
    texts: bytes = b""
    contexts: bytes = b""
    body: bytes = b""
    seconds: float | None = None
    labels: tuple[str, ...] = ()
    whole: bool = True
    part: Literal["all", "links", "text", "rendered"] = "all"
    unread: bool = False
    length: int = 0
    sitemap: bytes = b""

    @property
    def complete(self) -> bool:
        """A complete 2xx response: no other record of the same URL can be better."""
        return self.whole and 200 <= self.page.status < 300


def pack(recorded: Recorded) -> Packed:
    match recorded.outcome:
        case Page() as page:
            packed = _pack_page(page)
        case Redirect(to, status):
            packed = Packed(Page(recorded.url, status, ""), redirect=to)
        case Failure():
            packed = Packed(Page(recorded.url, 0, ""))
    return replace(packed, seconds=recorded.seconds, labels=recorded.labels, whole=recorded.whole)


def _pack_page(page: Page) -> Packed:
    return Packed(
        page=replace(page, title="", text="", tag_texts={}, main_text="", published="", links=()),
        targets=tuple(link.url for link in page.links),
        texts=packed_texts(page),
        contexts=packed_contexts(page.links),
        length=len(page.text),
    )


# Gathers streamed records: one record per URL, numbers in memory, texts on disk.


BuildReport = Counter[str]
"""Counts of what happened while a web was built."""

_LARGEST_SIZE = 2**31 - 1
_MOST_WORDS = 256


class Vocabulary:
    """Maps words to numbers in order of first use; number 0 is "". Words beyond the range of a byte become "other"."""

    def __init__(self) -> None:
        self.words = {"": 0}

    def number(self, word: str) -> int:
        if word not in self.words and len(self.words) >= _MOST_WORDS - 1:
            word = "other"
        return self.words.setdefault(word, len(self.words))


@dataclass
class Gathered:
    """The columns have a row for each record kept so far. A URL gets a number as soon as anything refers to it.

    `record_of` maps the number of a URL to its row, in the order in which the URLs were first recorded. `parts` has the
    rows that are only part of a page; `text_of` maps such a row to the row with its text. `rendered` maps a row to the
    row with the rendered page. `sitemaps` are URLs, in file order.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    record_of: dict[int, int] = field(default_factory=dict)
    complete: array[int] = field(default_factory=lambda: array("B"))
    status: array[int] = field(default_factory=lambda: array("h"))
    size: array[int] = field(default_factory=lambda: array("i"))
    content_type: array[int] = field(default_factory=lambda: array("B"))
    header_charset: array[int] = field(default_factory=lambda: array("B"))
    meta_charset: array[int] = field(default_factory=lambda: array("B"))
    detected_charset: array[int] = field(default_factory=lambda: array("B"))
    language: array[int] = field(default_factory=lambda: array("B"))
    needs_scripts: array[int] = field(default_factory=lambda: array("B"))
    length: array[int] = field(default_factory=lambda: array("i"))
    seconds: array[float] = field(default_factory=lambda: array("f"))
    redirect: array[int] = field(default_factory=lambda: array("i"))
    links: array[int] = field(default_factory=lambda: array("i"))
    link_offsets: array[int] = field(default_factory=lambda: array("q", [0]))
    labels: dict[int, tuple[str, ...]] = field(default_factory=dict)
    charsets: Vocabulary = field(default_factory=Vocabulary)
    content_types: Vocabulary = field(default_factory=Vocabulary)
    languages: Vocabulary = field(default_factory=Vocabulary)
    parts: dict[int, str] = field(default_factory=dict)
    text_of: dict[int, int] = field(default_factory=dict)
    rendered: dict[int, int] = field(default_factory=dict)
    sitemaps: dict[str, None] = field(default_factory=dict)

    def number(self, url: str) -> int:
        return self.numbers.setdefault(url, len(self.numbers))

    def row_of(self, url: str) -> int | None:
        """The row of a URL; None if it was not recorded."""
        number = self.numbers.get(url)
        return None if number is None else self.record_of.get(number)

    def complement(self, packed: Packed, row: int) -> bool:
        """Adds a record that has the missing part of the page in a row. Returns whether it did."""
        if {packed.part, self.parts.get(row)} != {"links", "text"} or row in self.text_of:
            return False
        new = len(self.status)
        self.add(packed)
        links, text = (row, new) if packed.part == "text" else (new, row)
        self.record_of[self.number(packed.page.url)] = links
        self.text_of[links] = text
        if links not in self.labels and text in self.labels:
            self.labels[links] = self.labels[text]
        return True

    def render(self, packed: Packed, row: int) -> bool:
        """Adds a record that has the rendered page of a row. Returns whether it did. As in a live crawl, the page gets
        the links of both and the longer text."""
        if packed.part != "rendered" or row in self.rendered:
            return False
        new = len(self.status)
        self.add(packed)
        self.record_of[self.number(packed.page.url)] = row
        self.rendered[row] = new
        self.needs_scripts[row] = self.needs_scripts[new]
        if self.length[new] >= self.length[row]:
            self.text_of[row] = new
        return True

    def add(self, packed: Packed) -> None:
        page = packed.page
        row = len(self.status)
        self.record_of[self.number(page.url)] = row
        if packed.part != "all":
            self.parts[row] = packed.part
        self.complete.append(packed.complete)
        self.status.append(page.status)
        self.size.append(min(page.size, _LARGEST_SIZE))
        self.content_type.append(self.content_types.number(page.content_type))
        self.header_charset.append(self.charsets.number(page.header_charset))
        self.meta_charset.append(self.charsets.number(page.meta_charset))
        self.detected_charset.append(self.charsets.number(page.detected_charset))
        self.language.append(self.languages.number(page.language))
        self.needs_scripts.append(page.needs_scripts)
        self.length.append(min(packed.length, _LARGEST_SIZE))
        self.seconds.append(float("nan") if packed.seconds is None else packed.seconds)
        self.redirect.append(-1 if packed.redirect is None else self.number(packed.redirect))
        self.links.extend(map(self.number, packed.targets))
        self.link_offsets.append(len(self.links))
        if packed.labels:
            self.labels[row] = packed.labels


def gather(records: Iterable[Packed], scratch: Path, report: BuildReport) -> Gathered:
    """Writes `texts`, `contexts` and bodies to the folder `scratch`, one blob per row, and `sitemaps`."""
    gathered = Gathered()
    with (
        BlobWriter(scratch, "texts") as texts,
        BlobWriter(scratch, "contexts") as contexts,
        BlobWriter(scratch, BODIES) as bodies,
        BlobWriter(scratch, SITEMAPS) as sitemaps,
    ):
        for packed in records:
            if packed.sitemap and packed.page.url not in gathered.sitemaps:
                gathered.sitemaps[packed.page.url] = None
                sitemaps.append(packed.sitemap)
            if _is_kept(packed, gathered, report):
                texts.append(packed.texts)
                contexts.append(packed.contexts)
                bodies.append(packed.body)
    return gathered


def _is_kept(packed: Packed, gathered: Gathered, report: BuildReport) -> bool:
    """The first record of a URL is kept, unless it is incomplete or a failure and a complete one follows."""
    row = gathered.row_of(packed.page.url)
    if row is not None and (gathered.complement(packed, row) or gathered.render(packed, row)):
        return True
    report["duplicates"] += row is not None
    if row is not None and (gathered.complete[row] or not packed.complete):
        return False
    gathered.add(packed)
    return True
