"""Sitemaps and feeds are read as they are in the wild, and within bounds."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.parse import sitemaps
from spoor.parse.sitemaps import evenly, read_sitemap
from spoor.records import Failure, Listed, SitemapFile

HOME = "https://a.test/sitemap.xml"
XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def read(body: str | bytes) -> SitemapFile:
    found = read_sitemap(HOME, body.encode() if isinstance(body, str) else body)
    assert isinstance(found, SitemapFile)
    return found


def urlset(*items: str, names: str = XMLNS) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {names}>{"".join(items)}</urlset>'


def page(name: str, rest: str = "") -> str:
    return f"<url>\n  <loc>https://a.test/{name}</loc>{rest}</url>\n"


def test_a_sitemap_lists_pages_with_the_day_of_their_last_change() -> None:
    found = read(urlset(page("one", "<lastmod>2026-11-15T10:00:00+07:00</lastmod>"), page("two")))
    assert found == SitemapFile(
        "urlset", (Listed("https://a.test/one", "", "2026-11-15"), Listed("https://a.test/two")), 2
    )


def test_an_index_lists_sitemaps() -> None:
    found = read(f"<sitemapindex {XMLNS}><sitemap><loc>https://a.test/s1.xml.gz</loc></sitemap></sitemapindex>")
    assert (found.kind, found.listed) == ("index", (Listed("https://a.test/s1.xml.gz"),))


def test_other_language_versions_are_pages_with_a_language() -> None:
    alternates = (
        '<xhtml:link rel="alternate" hreflang="mn" href="https://a.test/mn/"/>'
        '<xhtml:link rel="alternate" hreflang="en" href="https://a.test/en/"/>'
    )
    found = read(urlset(page("en/", alternates), page("mn/", "<lastmod>2026-01-02</lastmod>" + alternates)))
    assert found.listed == (Listed("https://a.test/en/", "en"), Listed("https://a.test/mn/", "mn", "2026-01-02"))


def test_the_images_and_videos_of_a_page_are_not_pages() -> None:
    image = "<image:image><image:loc>https://a.test/x.png</image:loc></image:image>"
    assert read(urlset(page("one", image))).listed == (Listed("https://a.test/one"),)


def test_a_text_file_lists_one_url_a_line() -> None:
    found = read("\ufeffhttps://a.test/one\r\n\r\nnot a url\r\n https://a.test/two?utm_source=x ")
    assert (found.kind, found.listed) == ("text", (Listed("https://a.test/one"), Listed("https://a.test/two")))


def test_lines_are_whole_wherever_a_piece_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "_PIECE", 22)
    urls = [f"https://a.test/page/{number}" for number in range(20)]
    assert [listed.url for listed in read("\n".join(urls)).listed] == urls


def test_a_gzip_file_is_unpacked() -> None:
    assert read(gzip.compress(urlset(page("one")).encode())).listed == (Listed("https://a.test/one"),)


@pytest.mark.parametrize("charset", ["windows-1251", "gb2312", "utf-16", "shift_jis", "iso-8859-1"])
def test_a_file_may_be_in_any_charset(charset: str) -> None:
    body = f'<?xml version="1.0" encoding="{charset}"?>' + urlset(page("one")).partition("?>")[2]
    assert read(body.encode(charset)).listed == (Listed("https://a.test/one"),)


def test_bytes_that_mean_nothing_cost_no_more_than_their_url() -> None:
    found = read(urlset(page("o\u00e9ne"), page("two")).encode("latin-1"))
    assert (found.listed[1], found.cut) == (Listed("https://a.test/two"), "")


@pytest.mark.parametrize("body", [b"", b"<!DOCTYPE html><html><body>Not found", b"<svg/>", b"Not found", b"\x00" * 50])
def test_what_is_neither_a_sitemap_nor_a_feed_is_a_failure(body: bytes) -> None:
    assert read_sitemap(HOME, body) == Failure("neither a sitemap nor a feed")


# Feeds, as five makers write them.

WORDPRESS = """<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"
 xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Blog</title>
<atom:link href="https://a.test/feed/" rel="self" type="application/rss+xml" /><link>https://a.test</link>
<language>mn</language><image><url>https://a.test/icon.png</url><link>https://a.test</link></image>
<item><title>One</title><link>https://a.test/one/</link><comments>https://a.test/one/#comments</comments>
<dc:creator><![CDATA[x]]></dc:creator><pubDate>Sun, 15 Nov 2026 08:00:00 +0000</pubDate>
<guid isPermaLink="false">https://a.test/?p=1</guid>
<content:encoded><![CDATA[<p><a href="https://b.test/">b</a></p>]]></content:encoded></item></channel></rss>"""
BLOGGER = """<?xml version='1.0' encoding='UTF-8'?><?xml-stylesheet href="x.css" type="text/css"?>
<feed xmlns='http://www.w3.org/2005/Atom' xml:lang='mn'><id>tag:blogger.com,1999:blog-1</id>
<link rel='alternate' type='text/html' href='https://a.test/'/><link rel='self' href='https://a.test/feeds/posts'/>
<entry><id>tag:blogger.com,1999:post-1</id><published>2026-11-15T01:00:00+07:00</published>
<link rel='replies' href='https://a.test/one/comments'/><link rel='edit' href='https://www.blogger.com/1'/>
<link rel='alternate' type='text/html' href='https://a.test/one/' title='One'/></entry></feed>"""
HATENA = """<?xml version="1.0" encoding="UTF-8"?><rdf:RDF xmlns="http://purl.org/rss/1.0/"
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/elements/1.1/" xml:lang="mn">
<channel rdf:about="https://a.test/rss"><link>https://a.test/</link>
<items><rdf:Seq><rdf:li rdf:resource="https://a.test/one/"/></rdf:Seq></items></channel>
<item rdf:about="https://a.test/one/"><title>One</title><link>https://a.test/one/</link>
<dc:date>2026-11-15T08:00:00+09:00</dc:date></item></rdf:RDF>"""
FEEDBURNER = """<?xml version="1.0"?><!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://x.test/rss.dtd">
<rss version="2.0" xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0"><channel><language>mn</language>
<item><title>One&nbsp;&mdash; more</title><link>http://feedproxy.test/~r/one</link>
<pubDate>15 Nov 2026 08:00 GMT</pubDate>
<feedburner:origLink>https://a.test/one/</feedburner:origLink></item></channel></rss>"""
MEDIAWIKI = """<?xml version="1.0"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="mn"><entry><id>https://a.test/one/</id>
<link rel="alternate" type="text/html" href="/one/"/><updated>2026-11-15T08:00:00Z</updated>
<summary type="html">&lt;p&gt;x&lt;/p&gt;</summary></entry></feed>"""
WITHOUT_LINKS = """<rss version="2.0"><channel><language>mn</language><item><title>One</title>
<guid isPermaLink="true">https://a.test/one/</guid><pubDate>2026-11-15</pubDate></item></channel></rss>"""


@pytest.mark.parametrize("feed", [WORDPRESS, BLOGGER, HATENA, FEEDBURNER, MEDIAWIKI, WITHOUT_LINKS])
def test_a_feed_lists_pages_with_language_and_day_whoever_made_it(feed: str) -> None:
    assert read(feed) == SitemapFile("feed", (Listed("https://a.test/one/", "mn", "2026-11-15"),), 1)


# What is broken or hostile.


def test_of_broken_xml_what_came_before_is_kept() -> None:
    found = read(urlset(page("one"), "<url><loc>https://a.test/two</wrong>"))
    assert (found.listed, found.cut) == (
        (Listed("https://a.test/one"),),
        "broken XML: mismatched tag",
    )


def test_a_file_that_breaks_off_keeps_what_came() -> None:
    packed = gzip.compress(urlset(*(page(str(number)) for number in range(5000))).encode())
    found = read(packed[: len(packed) // 2])
    assert found.cut == "broken gzip"
    assert 1000 < found.count < 4000


@pytest.mark.parametrize("reference", ["<loc>https://a.test/&x;</loc>", '<link href="&x;"/>'])
def test_a_file_that_declares_entities_is_not_read(reference: str) -> None:
    bomb = '<!ENTITY a "aaaaaaaaaa"><!ENTITY x "&a;&a;&a;&a;&a;&a;">'
    body = f"<!DOCTYPE urlset [{bomb}]><urlset><url>{reference}</url></urlset>"
    assert read_sitemap(HOME, body.encode()) == Failure("declares entities")


def test_nothing_outside_of_a_file_is_read() -> None:
    body = '<!DOCTYPE urlset SYSTEM "file:///etc/passwd"><urlset>' + page("one") + "</urlset>"
    assert read(body).listed == (Listed("https://a.test/one"),)


def test_a_gzip_bomb_ends_at_the_bound_of_bytes() -> None:
    packer = zlib.compressobj(9, wbits=31)
    packed = packer.compress(b"<urlset>") + b"".join(packer.compress(b" " * (1 << 20)) for _ in range(60))
    found = read(packed + packer.flush())
    assert (found.count, found.cut) == (0, "more than 52,428,800 bytes")


def test_elements_inside_one_another_are_bounded() -> None:
    assert read(urlset(page("one"), "<a>" * 1_000)).cut == "more than 200 nested elements"


def test_a_tag_without_end_is_bounded() -> None:
    found = read(urlset(page("one"), '<a b="' + "x" * 2_000_000))
    assert (found.count, found.cut) == (1, "broken XML: a tag or comment of more than 1,048,576 bytes")


def test_urls_are_bounded_and_evenly_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MOST_URLS", 100)
    monkeypatch.setattr(sitemaps, "MOST_LISTED", 4)
    found = read(urlset(*(page(str(number)) for number in range(120))))
    assert [listed.url.rpartition("/")[2] for listed in found.listed] == ["0", "25", "50", "75"]
    assert (found.count, found.cut) == (100, "more than 100 URLs")


def test_other_language_versions_count_as_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MOST_URLS", 100)
    alternates = "".join(f'<link rel="alternate" hreflang="x" href="/{number}"/>' for number in range(1_000))
    assert read(urlset(page("one", alternates))).count == 100


def test_a_url_that_is_too_long_is_left_out() -> None:
    assert read(urlset(page("x" * 9_000), page("two"))).listed == (Listed("https://a.test/two"),)


def test_an_even_choice_begins_with_the_first_and_repeats_nothing() -> None:
    assert evenly("abcdefghij", 4) == ["a", "c", "f", "h"]
    assert evenly("abc", 4) == ["a", "b", "c"]


@given(st.binary(), st.sampled_from([WORDPRESS, BLOGGER, HATENA, urlset(page("one")), "https://a.test/\n"]), st.data())
def test_nothing_that_comes_raises(noise: bytes, file: str, data: st.DataObject) -> None:
    body = file.encode()
    place = data.draw(st.integers(0, len(body)))
    read_sitemap(HOME, body[:place] + noise + body[place + len(noise) :])


@pytest.mark.parametrize(
    "feed",
    [
        "\n \t<?xml version='1.0'?><rss><channel><item><link>http://a.test/1</link></item></channel></rss>",
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><item rdf:about='http://a.test/1'/></rdf:RDF>",
    ],
)
def test_a_feed_with_space_before_it_or_items_with_names_alone_lists_them(feed: str) -> None:
    assert read(feed).listed == (Listed("http://a.test/1"),)
