"""Pages: text, tags, links and what stands around them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.parse.html import ParseOptions, read_page
from spoor.parse.link_base import LONGEST_URL
from spoor.parse.link_contexts import LONGEST
from spoor.records import Link, Page

URL = "http://a.test/dir/page.html"


def read(html: str) -> Page:
    return read_page(URL, html.encode(), "text/html; charset=utf-8")


def only_link(html: str) -> Link:
    (link,) = read(html).links
    return link


def targets(html: str) -> list[str]:
    return [link.url.removeprefix("http://a.test") for link in read(html).links]


def test_the_text_is_what_a_reader_sees() -> None:
    page = read(
        "<title> The\n title </title><style>p{}</style><body>One <b>t</b>wo<script>x()</script>"
        "<noscript>no</noscript><template>no</template><!-- no --> three &amp; four"
    )
    assert (page.title, page.text) == ("The title", "One two three & four")


def test_blocks_are_lines_of_text() -> None:
    assert read("<h1>Head</h1><p>first  line<br>second<ul><li>a<li>b</ul>").text == "Head\nfirst line\nsecond\na\nb"


def test_texts_are_also_kept_by_tag() -> None:
    page = read(
        "<title>T</title><meta name=Description content='what  it is'><meta name=keywords content='k, l'>"
        "<h1>one <em>x</em></h1><h1>two</h1><a href=y>link</a> <b>bold <a href=z>in bold</a></b>"
    )
    assert page.tag_texts == {
        "title": "T",
        "description": "what it is",
        "keywords": "k, l",
        "h1": "one x\ntwo",
        "em": "x",
        "b": "bold in bold",
    }


def test_a_tag_within_itself_counts_once() -> None:
    assert read("<b>a <b>b</b></b>").tag_texts["b"] == "a b"


def test_links_are_distinct_and_in_document_order() -> None:
    assert targets("<a href=b>1</a><a href=/c#x>2</a><a href=b#y>3</a><a href=a>4</a>") == ["/dir/b", "/c", "/dir/a"]


def test_a_link_to_the_page_itself_is_none() -> None:
    assert targets("<a href='#top'>1</a><a href=page.html>2</a><a href=''>3</a>") == []


def test_areas_frames_and_refreshes_are_links_where_they_stand() -> None:
    html = (
        "<meta http-equiv=Refresh content='5; URL=r'><a href=a>a</a><map><area href=m alt=M></map>"
        "<iframe src=i></iframe><a href=z>z</a>"
    )
    assert targets(html) == ["/dir/r", "/dir/a", "/dir/m", "/dir/i", "/dir/z"]
    assert targets("<frameset><frame src=f><frame src=g></frameset>") == ["/dir/f", "/dir/g"]


def test_what_leads_to_no_web_page_is_no_link() -> None:
    assert (
        targets("<a href='mailto:x@y.z'>m</a><a href='javascript:x()'>j</a><a name=n>n</a><a href='http://'>h</a>")
        == []
    )


def test_links_nobody_sees_still_lead_somewhere() -> None:
    page = read("<body>x<noscript><a href=n>unseen</a></noscript>")
    assert (page.text, [link.url for link in page.links]) == ("x", ["http://a.test/dir/n"])


def test_the_base_of_a_page_is_respected_even_if_it_comes_late() -> None:
    assert targets("<a href=x>x</a><base href='/other/'><base href='/no/'>") == ["/other/x"]


def test_an_anchor_crosses_inline_tags() -> None:
    assert only_link("<a href=x> an <b>ch</b>or </a>").anchor == "an chor"


@pytest.mark.parametrize(
    "html",
    [
        "<a href=x><img src=i alt=' A  cat '></a>",
        "<a href=x title='A cat'></a>",
        "<map><area href=x alt='A cat'></map>",
    ],
)
def test_a_link_without_words_is_known_by_its_description(html: str) -> None:
    assert only_link(html).anchor == "A cat"


def test_of_several_links_to_one_page_the_first_with_words_is_kept_at_the_first_place() -> None:
    links = read("<a href=x><img src=i></a> <a href=y>Y</a> <a href=x>X</a> <a href=x>no</a>").links
    assert [link.anchor for link in links] == ["X", "Y"]


def test_a_link_knows_the_words_around_it() -> None:
    link = only_link("<p>far <i>left</i> <a href=x>anchor</a>, right</p><p>next")
    assert (link.left, link.right) == ("far left", ", right next")


def test_a_link_knows_the_heading_above_it() -> None:
    links = read("<a href=1>1</a><h1>One</h1><p><a href=2>2</a><div><h3>T<i>w</i>o <a href=3>3</a></h3></div>").links
    assert [link.heading for link in links] == ["", "One", "Two 3"]


def test_a_heading_that_is_never_closed_does_not_repeat_the_page_at_every_link() -> None:
    links = read("<h1>" + "".join(f"<a href={i}>{'word ' * 50}</a>" for i in range(100))).links
    assert max(len(link.heading) for link in links) <= LONGEST


@pytest.mark.parametrize(
    ("html", "nofollow"),
    [
        ("<a href=x>x</a>", False),
        ("<a href=x rel='external NoFollow'>x</a>", True),
        ("<meta name=robots content='noindex, nofollow'><a href=x>x</a>", True),
        ("<meta name=robots content=none><a href=x>x</a>", True),
        ("<meta name=robots content=index><a href=x>x</a>", False),
    ],
)
def test_a_page_may_ask_not_to_follow(html: str, nofollow: bool) -> None:
    assert only_link(html).nofollow is nofollow


@pytest.mark.parametrize(
    ("html", "noindex"),
    [
        ("<p>x", False),
        ("<meta name=robots content='NOINDEX,follow'>", True),
        ("<meta name=Spoor content=none>", True),
        ("<meta name=robots content=all><meta name=robots content=noindex>", True),
        ("<meta name=googlebot content=noindex>", False),
        ("<meta name=robots content=nofollow>", False),
    ],
)
def test_a_page_may_ask_not_to_be_indexed(html: str, noindex: bool) -> None:
    assert read(html).noindex is noindex


@pytest.mark.parametrize(
    ("html", "canonical"),
    [
        ("<p>x", ""),
        ("<link rel=canonical href='../b/%c3%bc#x'>", "http://a.test/b/%C3%BC"),
        ("<link rel=stylesheet href=s><link rel=' Canonical ' href=//B.test>", "http://b.test/"),
        ("<base href=/other/><link rel=canonical href=c>", "http://a.test/other/c"),
        ("<link rel=canonical href=c><base href=/other/>", "http://a.test/other/c"),
        ("<link rel=canonical href=one><link rel=canonical href=two>", "http://a.test/dir/one"),
        ("<link rel=canonical href='mailto:a@b'>", ""),
        ("<link rel=canonical href=' '>", ""),
        ("<link rel=canonical>", ""),
        ("<link>", ""),
    ],
)
def test_the_url_that_a_page_calls_its_own(html: str, canonical: str) -> None:
    assert read(html).canonical == canonical


def test_what_is_not_html_has_attributes_only() -> None:
    page = read_page(URL, b"<a href=x>x</a>", "Text/Plain; charset=utf-8")
    assert page == Page(URL, 200, "text/plain", size=15)


def test_an_error_page_has_attributes_only() -> None:
    assert read_page(URL, b"<a href=x>x</a>", "text/html", 404).links == ()


def test_without_a_content_type_html_is_known_by_its_beginning() -> None:
    assert read_page(URL, b"\n<!DOCTYPE html><a href=x>x</a>").links
    assert not read_page(URL, b"%PDF <a href=x>x</a>").links


def test_charsets_are_told_and_used() -> None:
    page = read_page(URL, "<meta charset=koi8-r><title>жук</title>".encode("koi8-r"), "text/html")
    assert (page.title, page.header_charset, page.meta_charset) == ("жук", "", "koi8-r")


@given(st.binary(max_size=400))
def test_any_bytes_are_a_page(body: bytes) -> None:
    assert read_page(URL, body, "text/html").size == len(body)


MARKUP = (
    "<a href=x>|</a>|<b>|</b>|<h1>|</h2>|<table>|<td>|<noscript>|</noscript>|<svg>|<title>|<frameset>|<base href=//>|"
    "<meta name=robots>|<select>|<img alt=q>|<p>|<template>|word |<|&#0;"
)


@given(st.lists(st.sampled_from(MARKUP.split("|")), max_size=30).map("".join))
def test_any_markup_is_a_page(html: str) -> None:
    assert read(html).status == 200


@pytest.mark.parametrize("tag", ["<div>", "<b>", "<a href=x><div>", "<h1>", "<table><tr><td>"])
def test_a_page_that_nests_without_end_is_read_in_time(tag: str) -> None:
    began = time.process_time()
    assert read((tag + "x ") * 100_000).text.startswith("x")
    assert time.process_time() - began < 3


def test_a_link_says_where_on_the_page_it_stands() -> None:
    page = read("<ul><li><a href=x>x</a></ul><p>long words before <a href=y>y</a> and after</p>")
    listed, within = page.links
    assert (listed.path, listed.navigation) == ("html/body/ul/li", True)
    assert (within.path, within.navigation) == ("html/body/p", False)


@pytest.mark.parametrize("tag", ["nav", "header", "footer", "aside", "menu"])
def test_what_stands_apart_from_the_text_is_navigation(tag: str) -> None:
    (link,) = read(f"<{tag}>many words and only one link, <a href=x>x</a>, among them</{tag}>").links
    assert link.navigation


def test_links_among_links_are_navigation_whatever_is_between_them() -> None:
    page = read("<p><a href=a>home</a> | <a href=b>news</a> | <a href=c>about us</a></p>")
    assert all(link.navigation for link in page.links)


def test_languages_are_told_as_the_page_claims_them() -> None:
    page = read(
        "<html lang=de-AT><link rel=alternate hreflang=ja href=/ja><a href=/fr hreflang=fr rel='me NOFOLLOW'>f</a>"
    )
    assert page.language == "de-AT"
    assert [(link.url[-2:], link.hreflang, link.rel) for link in page.links] == [
        ("ja", "ja", "alternate"),
        ("fr", "fr", "me nofollow"),
    ]
    assert read("<meta http-equiv=content-language content='mn, en'><p>x").language == "mn"


def kept(html: str, most: int) -> tuple[list[str], int]:
    page = read_page(URL, html.encode(), "text/html", parse_options=ParseOptions(most_links=most))
    return [link.url.removeprefix("http://a.test/") for link in page.links], page.unrecorded


def test_of_too_many_links_those_in_the_content_are_kept_in_document_order_and_the_others_counted() -> None:
    html = "<nav><a href=/1>x</a><a href=/2>x</a></nav><a href=/3>x</a><p><a href=/4>x</a><footer><a href=/5>x</a>"
    assert kept(html, 5) == (["1", "2", "3", "4", "5"], 0)
    assert kept(html, 3) == (["1", "3", "4"], 2)
    assert kept(html, 1) == (["3"], 4)
    assert read(html).out_degree == 5


def test_a_page_linked_from_navigation_and_content_is_in_the_content() -> None:
    assert kept("<nav><a href=/1>x</a><a href=/2>x</a></nav><p><a href=/3>x</a><a href=/2>x</a>", 2) == (["2", "3"], 1)


def test_what_is_too_long_for_a_url_is_no_link_and_no_base() -> None:
    long = "x/" * LONGEST_URL
    assert targets(f"<a href=/{long}>x</a><a href=/y>y</a>") == ["/y"]
    assert targets(f"<base href=/{long}><a href=y>y</a>") == ["/dir/y"]


def test_the_feeds_that_a_page_names_are_told() -> None:
    page = read_page(
        "http://a.test/x/",
        b"<base href=/y/><link rel=alternate type=application/rss+xml href=f title=F><link rel='ALTERNATE home' "
        b"type='application/atom+xml ' href=//b.test/g><link rel=alternate type=text/calendar href=/c><a href=/d>d</a>",
        "text/html",
    )
    assert page.feeds == ("http://a.test/y/f", "http://b.test/g")
    assert [link.url for link in page.links] == ["http://a.test/d"]
