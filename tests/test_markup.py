"""A page that is read, kept and written anew reads the same: its text, its headings, its links and the words around."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.lab.serve import markup
from spoor.parse.html import read_page
from spoor.records import Link, Page

URL = "http://a.test/page"


def read(html: str) -> Page:
    """Without what belongs to the bytes and not to the page."""
    page = read_page(URL, html.encode(), "text/html; charset=utf-8")
    return replace(page, size=0, detected_charset="", header_charset="")


def again(page: Page) -> Page:
    return read(markup(page))


PAGES = {
    "words around links": "<p>Rice is <a href=/rice>grown</a> in <a href=/th>Thailand</a>, mostly.</p><p>More.</p>",
    "several lines": "<div>one<br>two <a href=/2>deux</a><br><b><a href=/3>drei</a></b> three</div>last line",
    "navigation by its element": "<nav><ul><li><a href=/a>home</a> of us all</ul></nav><p>a <a href=/b>b</a> c d e",
    "navigation by its neighbours": "<p><a href=/a>home</a> | <a href=/b>news</a><p>words and words <a href=/c>c</a>",
    "neighbours that are not kept": "<p><a href=#top>a link to the top</a>, <a href=mailto:x>mail</a>, <a href=/a>a",
    "navigation without words": "<ul><li><a href=/a title=a> </a><li><a href=/b title=b></a></ul><p><a href=/c>c</a> x",
    "not navigation, for all its blanks": f"<p>no{' ' * 200}<a href=/a>a link with words</a></p>",
    "headings": "<h1>One</h1><a href=/a>a</a><h2>Part <a href=/b>b</a></h2><p>c <a href=/c>c</a><h3></h3><a href=/d>d",
    "a heading of two lines": "<h2>The<br>Title</h2><p>and <a href=/a>a</a> link",
    "a heading of two lines with links": "<h2>The<br><a href=/t>Title</a></h2><h2>Other <a href=/a>a</a></h2>",
    "a heading inside of a link": "<ul><li><a href=/a><h3>Head</h3><p>line</a><li><a href=/b><h3>Other</h3></a></ul>",
    "a picture inside of a heading": "<p>x<h2><a href=/a><img></a>Title</h2><p>text <a href=/b>b</a>",
    "a table of contents": "<p>One<p>Two<h2>One</h2><a href=/a>a</a> x<h2>Two</h2><a href=/b>b</a> y",
    "a menu before the heading": "<h1>We</h1><p>Posts<p><a href=/a>a</a> x<h2>Posts</h2><h2>Mine</h2><a href=/b>b</a>",
    "links without words": '<p>see<p><a href=/a><img alt="a picture"></a><p>and <a href=/b title="b"></a> this',
    "a link found first without words": "<a href=/a><img></a><p>text <a href=/b>b</a><p>more <a href=/a>home</a>",
    "the same words twice": "<p>go <a href=/a>here</a> now<p>go <a href=/b>here</a> now",
    "what links claim": "<p>in <a href=/de hreflang=de rel='alternate me'>German</a> and <a href=/x rel=tag>x</a>",
    "nofollow": "<p>1 <a href=/a rel=nofollow>a</a> 2 <a href=/b>b</a> <a href=/c rel=nofollow>c</a> <a href=/c>c</a>",
    "nofollow, all of it": "<meta name=robots content=nofollow><p>one <a href=/a>a</a> <a href=/b rel=me>b</a> two",
    "other languages in the head": "<link rel=alternate hreflang=de href=/de title=D><p>x <a href=/b>b</a>",
    "a page that is elsewhere": '<meta http-equiv=refresh content="0; url=/there"><p>Gone.',
    "a page that is elsewhere for some": "<noscript><meta http-equiv=refresh content='0; url=/a'></noscript><p>Here.",
    "unseen words": "<p>seen<noscript>not seen <a href=/a>a</a></noscript> and <a href=/b>b</a>",
    "frames": "<frameset><frame src=/a title=A><frameset><frame src=/b></frameset></frameset>",
    "a table in a paragraph, as of old": "<p>x<table><tr><td>y <a href=/a>a</a><td><a href=/b>b</a></table>",
    "letters that mean something": "<p>1 &lt; 2 &amp; <a href='/?a=1&amp;b=%22'>&lt;b&gt;</a> \"x\"</p>",
    "no links": "<title>A &amp; B</title><html lang=th><body><p>only words<p>of two lines",
    "links alone": "<a href=/a></a><a href=/b></a>",
    "described": "<meta name=description content='what it is'><meta name=keywords content='a, b'><p>x <a href=/a>a</a>",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_written_anew_reads_the_same(name: str) -> None:
    page = read(PAGES[name])
    assert page.links or page.text
    assert again(page) == page


def test_links_of_which_nothing_is_known_but_the_anchor_keep_their_order_and_anchors() -> None:
    links = (Link("http://b.test/", "b"), Link("http://c.test/"), Link("http://a.test/", "a", nofollow=True))
    page = again(Page(URL, text="words of the page", links=links))
    assert [(link.url, link.anchor, link.nofollow) for link in page.links] == [
        (link.url, link.anchor, link.nofollow) for link in links
    ]
    assert page.text == "words of the page"


words = st.text("ab ก中<&\"'", min_size=1, max_size=8)
targets = st.sampled_from(["/a", "/b", "/c", "http://b.test/", "#here", "mailto:x"])
rels = st.sampled_from(["", " rel=nofollow", " rel=tag", " title=t"])
links = st.builds(
    "<a href={}{}>{}</a>".format, targets, rels, words.map(lambda said: said.replace("<", "&lt;")) | st.just("")
)
plain = words.map(lambda said: said.replace("&", "&amp;").replace("<", "&lt;"))
tags = st.sampled_from(["p", "div", "ul", "li", "h1", "h2", "h4", "nav", "b", "span", "table", "td", "center"])
fragments = st.recursive(
    plain | links | st.just("<br>"),
    lambda inner: st.builds(lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>", tags, st.lists(inner, max_size=5)),
    max_leaves=30,
)


@given(st.lists(fragments, max_size=6).map("".join))
def test_whatever_a_page_is_made_of_its_text_and_its_links_come_back_in_order(html: str) -> None:
    page = read(html)
    back = again(page)
    assert (back.text, back.title) == (page.text, page.title)
    assert [(link.url, link.nofollow) for link in back.links] == [(link.url, link.nofollow) for link in page.links]
