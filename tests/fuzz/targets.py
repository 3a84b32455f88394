"""What is fed with what, and what must hold of it. An error for the user is an answer; any other is a finding."""

from __future__ import annotations

import contextlib
import math
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spoor import robots
from spoor import settings as config
from spoor.errors import SpoorError
from spoor.fetch.decoding import Decoding
from spoor.lab.build.log_source import is_log, read_logs
from spoor.lab.build.warc_source import parse_http_response, read_warcs
from spoor.parse.demanding import demanding
from spoor.parse.documents import read_answer
from spoor.parse.html import ParseOptions, read_page
from spoor.parse.main_text import QUICK
from spoor.parse.sitemaps import read_sitemap
from spoor.records import Failure, SitemapFile
from spoor.urls import canonical, host_of, join, near_misses, normalise, robots_url
from tests.fuzz import corpus
from tests.fuzz.journal import forged_rows, rows_as_written
from tests.fuzz.models import model, models
from tests.fuzz.snapshots import snapshot, snapshots
from tests.made_documents import DOCX, EPUB, ODT, zipped

PAGE = "http://a.test/dir/page.html?q=1"
MOST_LINKS = 50


@dataclass(frozen=True)
class Target:
    """`check` raises when something does not hold; `corpus` are good inputs, `signs` what means something in them."""

    check: Callable[[bytes], None]
    corpus: Sequence[bytes]
    signs: Sequence[bytes] = ()


def _url(given: bytes) -> None:
    text = given.decode("utf8", "replace")
    for url in (normalise(text), join(PAGE, text)):
        if url is not None:
            assert normalise(url) == url, url
            assert normalise(canonical(url)) is not None, url
            assert host_of(url) and host_of(robots_url(url)) == host_of(url)
            assert all(near_misses(url))


def _robots(given: bytes) -> None:
    text = given.decode("utf8", "replace")
    seconds = robots.parse(text, "spoor/1.0").delay
    assert seconds is None or (0.0 <= seconds <= robots.LONGEST_DELAY and math.isfinite(seconds))
    for url in (PAGE, "http://a.test/", "http://a.test/%2A$?*=%3f"):
        robots.allows(text, "spoor", url)
    assert robots.allows(text, "spoor", "http://a.test/robots.txt")


def _html(given: bytes) -> None:
    header, _, body = given.partition(b"\n")
    if demanding(body):
        return
    read = read_page(PAGE, body, header.decode("latin-1"), parse_options=ParseOptions(QUICK, most_links=MOST_LINKS))
    assert len(read.links) <= MOST_LINKS
    for link in read.links:
        assert normalise(link.url) == link.url and link.url != PAGE, link.url
    read.text.encode()


def _sitemap(given: bytes) -> None:
    found = read_sitemap(PAGE, given)
    if isinstance(found, SitemapFile):
        assert found.count >= len(found.listed)
        assert all(normalise(listed.url) == listed.url for listed in found.listed)


def _decoding(given: bytes) -> None:
    encodings, _, body = given.partition(b"\n")
    for size in (1 << 16, 97):
        decoding = Decoding(encodings.decode("latin-1"), 100_000)
        for place in range(0, len(body), size):
            decoding.feed(body[place : place + size])
        assert len(decoding.body) <= 100_000 and decoding.cut in ("", "length", "encoding")


def _settings(given: bytes) -> None:
    with contextlib.suppress(SpoorError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of regular expressions that may mean something else one day
        settings = config.loads(given.decode("utf8", "replace"))
        assert config.loads(config.dumps(settings)) == settings


def _recorded(given: bytes) -> None:
    found = parse_http_response(given)
    assert found is None or len(found.body) <= 50_000_000


def _warc(given: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".warc") as file, contextlib.suppress(SpoorError):
        file.write(given)
        file.flush()
        for packed in read_warcs([Path(file.name)], Counter(), workers=1):
            assert packed


def _log(given: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file, contextlib.suppress(SpoorError):
        file.write(given)
        file.flush()
        if is_log(Path(file.name)):
            for packed in read_logs([Path(file.name)], Counter()):
                assert normalise(packed.page.url) == packed.page.url


def _document(given: bytes) -> None:
    """As a whole file, and as the XML in one."""
    files = [(given, mime) for mime in (DOCX, ODT, EPUB)]
    files += [(zipped({"word/document.xml": given}), DOCX), (zipped({"content.xml": given}), ODT)]
    for body, mime in files:
        page = read_answer(PAGE, body, mime, parse_options=ParseOptions(most_links=MOST_LINKS))
        assert isinstance(page, Failure) or (page.text and len(page.links) <= MOST_LINKS), page


TARGETS = {
    "url": Target(_url, corpus.URLS, corpus.URL_SIGNS),
    "robots": Target(_robots, corpus.ROBOTS, corpus.ROBOTS_SIGNS),
    "sitemaps": Target(_sitemap, corpus.SITEMAPS, corpus.SITEMAP_SIGNS),
    "html": Target(_html, corpus.HTML, corpus.HTML_SIGNS),
    "decoding": Target(_decoding, corpus.ENCODED, corpus.ENCODING_SIGNS),
    "documents": Target(_document, corpus.DOCUMENTS, corpus.DOCUMENT_SIGNS),
    "settings": Target(_settings, corpus.SETTINGS, corpus.SETTING_SIGNS),
    "recorded": Target(_recorded, corpus.RECORDED, corpus.HTTP_SIGNS),
    "warc": Target(_warc, corpus.WARCS, corpus.WARC_SIGNS),
    "extracts": Target(_warc, corpus.EXTRACTS, corpus.EXTRACT_SIGNS),
    "logs": Target(_log, corpus.LOGS, corpus.LOG_SIGNS),
    "models": Target(model, models(), corpus.MODEL_SIGNS),
    "snapshots": Target(snapshot, snapshots(), corpus.MODEL_SIGNS),
    "journal": Target(rows_as_written, corpus.ROWS),
    "forged": Target(forged_rows, corpus.FORGERIES, corpus.MODEL_SIGNS),
}
