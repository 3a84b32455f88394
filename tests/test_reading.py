"""A page is read in one pass by compiled code, and all is found that a plain walk through its tree finds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from hypothesis import example, given
from hypothesis import strategies as st

from spoor.lab.build.warc_source import open_unpacked, parse_http_response
from spoor.parse.html import ParseOptions, read_page
from spoor.parse.tidy_text import tidied
from spoor.parse.walk import BORDER
from spoor.records import Page
from tests.fuzz import corpus
from tests.fuzz.mutation import Mutator
from tests.plain_reading import plain_page
from tests.shared_data import SHARED, needs_shared

URL = "http://a.test/dir/page?q"
INTERESTS = (
    ParseOptions(),
    ParseOptions(contexts=False),
    ParseOptions(most_links=3),
    ParseOptions(contexts_later=True),
)

_TAGS = """
    a a a a area base br hr p div ul li table tr td tbody b strong i em u h1 h2 h3 nav header img iframe frame frameset
    noscript script style svg title template xmp textarea select option link meta html head body form pre x-y font nobr
    noembed noframes foreignObject button object caption col input plaintext
"""
_ATTRIBUTES = """
    href=/a href=b href href='' href='c?x=1&amp;y=2' href=mailto:x HREF=/upper title='t&lt;u' title rel=nofollow
    rel='NoFollow&gt;x' hreflang=de alt='A&nbsp;l' alt src=/s name=robots name=description name=keywords
    content=nofollow,noindex content='0;url=/r' content=de,en http-equiv=refresh http-equiv=content-language
    rel=canonical rel=alternate rel='a>b' lang=th xml:lang=en =x=y "q=1 x'y
"""
TAGS, ATTRIBUTES = _TAGS.split(), _ATTRIBUTES.split()
WORDS = (
    *("words", "a&amp;b", "&lt;p>", "&nbsp;", "é", "&quot;", "&#0;", "ก", "学学学", "-->", "<!--", "<![CDATA[x]]>"),
    *("<?x?>", "<!x>", "</p", "</script>", "<!--<script>", "<!-- c -->", "word " * 30, "学" * 150),
    *(" ", "  ", "\n", "\0", "x\x1fy", "\u2028", "\u3000"),
)


def start_tag(tag: str, attributes: list[str]) -> str:
    return f"<{' '.join([tag, *attributes])}>"


PIECES = st.one_of(
    st.builds(start_tag, st.sampled_from(TAGS), st.lists(st.sampled_from(ATTRIBUTES), max_size=3)),
    st.builds("</{}>".format, st.sampled_from(TAGS)),
    st.sampled_from(WORDS),
)


def same(body: bytes, content_type: str = "text/html; charset=utf-8", url: str = URL) -> bool:
    """For each interest; the order of texts by tag included."""
    pairs = [(of(url, body, content_type, one), plain_page(url, body, content_type, one)) for one in INTERESTS]
    return all(read == plain and list(read.tag_texts) == list(plain.tag_texts) for read, plain in pairs)


def of(url: str, body: bytes, content_type: str, parse_options: ParseOptions) -> Page:
    """With the contexts that are read later, if there are any."""
    page = read_page(url, body, content_type, parse_options=parse_options)
    links = page.links if page.contexts is None else tuple(page.contexts.of(page.links))
    return replace(page, links=links, content_type="text/html")


@given(st.lists(PIECES, max_size=60).map("".join))
@example("<plaintext></plaintext>&lt;<b>")
@example("<p>x<script><!-- <script> </script> <p> --></script>y")
@example("<p>x<script><!--<script>")
@example("<style></styles><p>x</style>y")
@example("<svg><title><p>x</p></title><style>&lt;/svg></style><svg></svg><a href=/a>b</a></svg>c")
@example("<b<c d=1>x</b<c><p>y")
@example('<a ="b=c href=/x>y</a>')
@example("<p><!--a--!>x<!foo-->y<!---->z<?php -->w")
@example("<area href><base href=/b>")
@example("<link rel=alternate type=application/rss+xml href=/f><link rel=alternate type=' application/ATOM+xml'>")
@example("<math><mi>x</mi><a href=/a>b</a></math>")
def test_all_is_found_that_a_plain_walk_finds(html: str) -> None:
    assert same(html.encode("utf8", "surrogatepass"))


@pytest.mark.parametrize("seed", range(4))
def test_all_is_found_on_pages_that_were_damaged(seed: int) -> None:
    mutator = Mutator(seed, corpus.HTML, corpus.HTML_SIGNS)
    for _ in range(100):
        body = mutator.input().partition(b"\n")[2]
        assert b"<math" in body.lower() or same(body), body


@needs_shared
@pytest.mark.parametrize("web", ["webkb", "weblogs", "wikispeedia", "openoffice", "debian-docs"])
def test_all_is_found_on_recorded_pages(web: str) -> None:
    pages = list(islice(recorded(web), 0, 400, 5))
    assert pages and all(same(body, content_type, url) for url, body, content_type in pages)


def recorded(web: str) -> Iterator[tuple[str, bytes, str]]:
    with closing(open_unpacked(SHARED / "webs" / web / "web.warc.xz")) as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=False):
            http = parse_http_response(record.reader.read())
            if http is not None and (content_type := http.headers.get("content-type", "")).startswith("text/html"):
                yield str(record.headers["WARC-Target-URI"]).strip("<>"), http.body, content_type


@given(st.text(st.one_of(st.sampled_from("ab \x1f\n\x85\u3000"), st.characters()), max_size=40), st.data())
def test_any_part_of_a_text_has_its_words_in_the_tidied_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    tidy = tidied(np.array([ord(letter) for letter in text], np.uint32))
    blocks = [" ".join(block.split()) for block in text.split(chr(BORDER))]
    assert tidy.lines == "\n".join(filter(None, blocks))
    assert tidy.words[tidy.begins[start] : tidy.ends[end]] == " ".join(text[start:end].split())


def test_white_space_is_what_python_takes_for_it() -> None:
    """A line end, as it is in `lines`, is between two blocks only."""
    tidy = tidied(np.array([ord("a") if n % 2 else n // 2 for n in range(2 * 0x110000)], np.uint32))
    whole = "".join("a" if n % 2 else chr(n // 2) for n in range(2 * 0x110000))
    assert tidy.words == " ".join(whole.split())


@given(st.text(st.sampled_from(" \n\x00\x1fa\u00e4\u3042\ud800\U0001f600"), max_size=12))
def test_a_tidied_text_keeps_all_characters_but_white_space(text: str) -> None:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    assert tidied(codes).words == " ".join(text.split())
