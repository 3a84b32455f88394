"""What every extractor of main texts promises."""

from __future__ import annotations

from dataclasses import astuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spoor.parse.main_text import BEST, NODE_RATIO, QUICK, Extractor, MainText

EXTRACTORS = [
    pytest.param(NODE_RATIO, id="node ratio"),
    pytest.param(QUICK, id="quick"),
    pytest.param(BEST, id="best"),
]
STORY = "The riders crossed the wide steppe for many days and came to the bank of a river at last."
MENU = "".join(f'<li><a href="/{n}">Menu {n}</a></li>' for n in range(9))
ARTICLE = f"""
    <html><head><title>Riders &amp;
    rivers</title><meta property="article:published_time" content="2019-11-18T10:00:00Z">
    <style>p {{ color: red }}</style></head>
    <body onload="start()"><nav><ul>{MENU}</ul></nav>
    <div><article><h1>Riders</h1><p onclick="jump()">{STORY}</p><script>var noise = 1</script><!-- a remark -->
    <p>Then they   rested.\n\n {STORY}</p><p>{STORY}</p></article></div>
    <div class="advert"><p>Buy now, and buy a lot.</p></div>
    <footer>© 2019 The Paper</footer>
"""
PAGES = {
    "nothing": "",
    "blanks": " \n\t ",
    "an image": "\ufffdPNG\r\n\x1a\n" + "".join(map(chr, range(32))) * 500,
    "no tags": "just words",
    "a tag that is cut": '<p>abc <a href="',
    "half a character": f"<p>\ud800 {STORY}",
    "only links": "<a href='/x'>hello world</a> " * 100,
    "endless comment": "<!--" * 5_000,
    "an XML declaration": f'<?xml version="1.0" encoding="utf-16"?><html><body><p>{STORY}',
    "10,000 elements deep": "<div>" * 10_000 + STORY,
    "endless depth": "<div><b>" * 200_000 + STORY,
    "100,000 elements": f"<p>{STORY}</p>" * 100_000,
    "a table that is never closed": "<table><tr>" + "<td>hi there" * 20_000,
}


@pytest.mark.parametrize("extractor", EXTRACTORS)
class TestEveryExtractor:
    def test_finds_the_text_and_leaves_out_what_surrounds_it(self, extractor: Extractor) -> None:
        text = extractor.extract(ARTICLE).text
        assert text.count(STORY) == 3 and "Then they rested." in text
        for noise in ("Menu", "noise", "color", "remark", "jump", "Buy", "The Paper"):
            assert noise not in text

    def test_gives_a_line_for_each_block_and_no_blank_twice(self, extractor: Extractor) -> None:
        lines = extractor.extract(ARTICLE).text.split("\n")
        assert len(lines) in (3, 4), "with the heading or without"
        assert all(line == " ".join(line.split()) != "" for line in lines)

    def test_tells_title_and_date(self, extractor: Extractor) -> None:
        found = extractor.extract(ARTICLE)
        assert (found.title, found.published) == ("Riders & rivers", "2019-11-18")

    @pytest.mark.parametrize("html", PAGES.values(), ids=PAGES.keys())
    def test_never_fails(self, extractor: Extractor, html: str) -> None:
        assert all(isinstance(told, str) for told in astuple(extractor.extract(html)))

    @pytest.mark.parametrize("name", ["nothing", "blanks", "an image"])
    def test_finds_nothing_where_there_is_nothing(self, extractor: Extractor, name: str) -> None:
        assert extractor.extract(PAGES[name]) == MainText()

    def test_reads_a_page_that_nests_10_000_elements(self, extractor: Extractor) -> None:
        assert extractor.extract(PAGES["10,000 elements deep"]).text == STORY

    @given(st.text(alphabet="<>/!-=\"' \n\x00&;apdivtrhmltimescontent©中ก1", max_size=300))
    @settings(max_examples=60, deadline=None)
    def test_never_fails_on_anything(self, extractor: Extractor, html: str) -> None:
        extractor.extract(html, html)
