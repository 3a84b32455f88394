"""Pages made by scripts: told from the static response, read where their data lies in them, followed where they only
forward."""

from __future__ import annotations

import json
import time

import pytest

from spoor.fetch.responses import understand
from spoor.parse.html import ParseOptions, read_page
from spoor.parse.main_text import QUICK
from spoor.parse.page_data import MOST_LINKS, MOST_TEXT, is_said
from spoor.parse.scripted import LEAST_CODE, THIN_LINKS, THIN_TEXT, Script, needs_scripts
from spoor.records import Link, Page, Redirect, Response, Visit
from tests.scripted_pages import BUNDLE, SCRIPTED, STATIC, STORY, shell

URL = "http://a.test/dir/page"
SOURCE = Script("", True, "")


def read(html: str, parse_options: ParseOptions | None = None) -> Page:
    return read_page(URL, html.encode(), "text/html; charset=utf-8", parse_options=parse_options or ParseOptions(QUICK))


def targets(page: Page) -> list[str]:
    return [link.url.removeprefix("http://a.test") for link in page.links]


def answer(html: str, head: str = "") -> object:
    raw = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{head}\r\n".encode()
    headers = {"content-type": "text/html"} | ({"x-robots-tag": head.partition(":")[2].strip()} if head else {})
    body = html.encode()
    return understand(Visit(URL, "a.test", 0, 0.0), Response(URL, 200, headers, body, body, b"", raw, "", 0.0, 0.1))


# Which pages need scripts.


def test_of_22_kinds_of_scripted_pages_19_or_more_are_noticed() -> None:
    missed = [name for name, html in SCRIPTED.items() if not read(html).needs_scripts]
    assert len(SCRIPTED) == 22
    assert missed == ["text of three hundred characters"]


@pytest.mark.parametrize("name", STATIC)
def test_a_static_page_needs_no_scripts(name: str) -> None:
    assert not read(STATIC[name]).needs_scripts


@pytest.mark.parametrize(
    ("characters", "links", "script", "needed"),
    [
        (THIN_TEXT - 1, THIN_LINKS - 1, SOURCE, True),
        (THIN_TEXT, 0, SOURCE, False),
        (0, THIN_LINKS, SOURCE, False),
        (0, 0, Script("", False, "x" * LEAST_CODE), False),
        (0, 0, Script("", False, "x" * (LEAST_CODE + 1)), True),
        (0, 0, Script("TEXT/JavaScript", True, ""), True),
        (0, 0, Script("module", True, ""), True),
        (0, 0, Script("application/json", False, "x" * (LEAST_CODE + 1)), False),
        (0, 0, Script("text/template", False, "x" * (LEAST_CODE + 1)), False),
    ],
)
def test_the_rule(characters: int, links: int, script: Script, needed: bool) -> None:
    page = Page(URL, title="App", text="x" * characters, links=tuple(Link(f"http://a.test/{n}") for n in range(links)))
    assert needs_scripts(page, [script]) is needed


def test_a_piece_of_another_page_needs_no_scripts_of_its_own() -> None:
    assert not read(f"<title></title><p>Loading...<p>No Matches{BUNDLE}").needs_scripts
    assert read(f"<title></title><div id=root></div>{BUNDLE}").needs_scripts


def test_a_script_inside_of_an_image_or_a_template_makes_no_page() -> None:
    assert not read(
        shell("<svg><script src=/x.js></script></svg><template><script src=/y.js></script></template>")
    ).needs_scripts


# Data that lies in the page.


POSTS = [{"title": f"Post number {n}", "url": f"/posts/{n}", "className": "flex grow shrink"} for n in range(40)]


def test_a_page_whose_data_lies_in_it_is_read_without_a_browser() -> None:
    data = json.dumps({"props": {"posts": POSTS, "body": f"<p>{STORY}</p><a href='more'>more</a>"}, "buildId": "a1-b2"})
    html = shell(f"<div id=__next></div><script id=__NEXT_DATA__ type=application/json>{data}</script>{BUNDLE}")
    page = read(html)
    assert not page.needs_scripts
    assert targets(page) == [*(f"/posts/{n}" for n in range(40)), "/dir/more"]
    assert page.links[3].anchor == "Post number 3"
    assert STORY.strip() in page.text and "Post number 39" in page.text
    assert "flex" not in page.text and "a1-b2" not in page.text and "<p>" not in page.text
    assert page.best_text == page.text


@pytest.mark.parametrize(
    "code",
    [
        'window.__NUXT__ = {"t": "TEXT", "link": "/a"};',
        'window["__INITIAL_STATE__"]={"t": "TEXT", "link": "/a"};(function(){})()',
        r'self.__STATE__ = JSON.parse("{\"t\": \"TEXT\", \"link\": \"\/a\"}")',
        'var x = 1; window.data = [{}, {"t": "TEXT", "link": "/a"}]\nrun()',
    ],
)
def test_state_given_to_the_window_is_read(code: str) -> None:
    page = read(shell(f"<div id=app></div><script>{code.replace('TEXT', STORY)}</script>{BUNDLE}"))
    assert (page.text, targets(page), page.needs_scripts) == (STORY.strip(), ["/a"], False)


def test_json_ld_gives_headline_text_and_breadcrumb() -> None:
    crumbs = [{"@type": "ListItem", "item": {"@id": "https://b.test/news", "name": "News"}}]
    article = {
        "@context": "https://schema.org",
        "headline": "Storm",
        "articleBody": STORY,
        "url": "http://a.test/storm",
        "image": "http://a.test/big-picture",
        "breadcrumb": {"itemListElement": crumbs},
    }
    page = read(f"<div></div><script type='application/ld+json'>{json.dumps(article)}</script>{BUNDLE}")
    assert page.title == "Storm"
    assert page.text == f"Storm\n{STORY.strip()}"
    assert [(link.url, link.anchor) for link in page.links] == [
        ("http://a.test/storm", "Storm"),
        ("https://b.test/news", "News"),
    ]


def test_a_page_with_little_data_still_needs_scripts_and_has_what_there_is() -> None:
    page = read(shell('<script type=application/json>{"title": "Hello there", "href": "/a"}</script>' + BUNDLE))
    assert (page.needs_scripts, page.text, targets(page)) == (True, "Hello there", ["/a"])


def test_the_data_of_a_page_with_text_is_not_read() -> None:
    html = shell(f"<p>{STORY}</p><script type=application/json>{json.dumps({'links': POSTS})}</script>{BUNDLE}")
    assert targets(read(html)) == []


@pytest.mark.parametrize("string", ["A short text", "ประเทศไทย", "日本語", "It's 5 o'clock, isn't it?", "Что нового?"])
def test_what_is_said_to_readers(string: str) -> None:
    assert is_said(string)


@pytest.mark.parametrize(
    "string",
    [
        "word",
        "flex items-center justify-between",
        "mt-4 md:mt-8 grid grid-cols-2",
        "8f14e45f-ceea 367a-9a36",
        "function () { return 1 }",
        "2026-11-15 10:00",
        "a=1 b=2",
        "https://a.test/x y",
    ],
)
def test_what_is_not_said_to_readers(string: str) -> None:
    assert not is_said(string)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("url", "/app.js"),
        ("url", "/photo.JPG?w=1"),
        ("href", "/_next/data/x"),
        ("id", "/not/a/link"),
        ("ns", "http://www.w3.org/2000/svg"),
        ("src", "http://a.test/frame"),
        ("url", "two words"),
        ("url", "mailto:x@y.z"),
    ],
)
def test_what_is_no_link(name: str, value: str) -> None:
    assert read(shell(f"<script type=application/json>{json.dumps({name: value})}</script>{BUNDLE}")).links == ()


def test_what_asks_not_to_be_followed_says_so_of_links_in_data_too() -> None:
    html = '<meta name=robots content=nofollow><script type=application/json>{"url": "/a"}</script>' + BUNDLE
    assert [link.nofollow for link in read(html).links] == [True]


@pytest.mark.parametrize(
    "data",
    [
        "[" * 400_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        json.dumps([f"<b>{n}</b> bold" for n in range(30_000)]),
        json.dumps([{"url": f"/{n}", "title": f"Title of {n}"} for n in range(20_000)]),
        json.dumps(["words and words " * 1000 + str(n) for n in range(50)]),
        json.dumps(json.dumps(json.dumps(json.dumps([["a b"] * 9_000])))),
        json.dumps("\u003cb\u003e\u003cp\u003e" * 60_000),
        json.dumps(["//" + "." * 400_000 + " x"]),
        "x" * 2_000_000,
        "{broken",
    ],
    ids=range(10),
)
def test_data_is_read_within_bounds(data: str) -> None:
    html = shell(f"<script type=application/json>{data}</script>{BUNDLE}")
    began = time.process_time()
    page = read(html)
    assert time.process_time() - began < 2.0
    assert len(page.links) <= MOST_LINKS and len(page.text) <= 2 * MOST_TEXT


@pytest.mark.parametrize("code", ['window.a=["",' * 40_000, "location='" * 50_000, "window.a={" * 50_000])
def test_code_is_searched_within_bounds(code: str) -> None:
    began = time.process_time()
    assert read(shell(f"<script>{code}</script>{BUNDLE}")).needs_scripts
    assert time.process_time() - began < 2.0


def test_of_too_many_links_in_data_the_others_are_counted() -> None:
    data = json.dumps({"posts": POSTS})
    page = read(shell(f"<script type=application/json>{data}</script>{BUNDLE}"), ParseOptions(most_links=7))
    assert (len(page.links), page.unrecorded) == (7, 33)


# Pages that only forward.


@pytest.mark.parametrize(
    "html",
    [
        "<meta http-equiv=refresh content='0; url=/there'>",
        "<meta http-equiv=Refresh content='5;URL=/there'><p>Moved. <a href=/there>Here</a>.",
        "<script>location = '/there'</script>",
        '<script>window.location.href = "/there";</script><a href=/there>here</a>',
        "<script>setTimeout(function () { document.location.replace('\\/there') }, 100)</script>",
        "<script>location.assign('/there')</script><noscript><a href=/there>go on</a></noscript>",
        "<base href=http://a.test/there><script>location='#'</script>",
    ],
)
def test_a_page_that_only_forwards_is_a_redirect(html: str) -> None:
    assert answer(html) == Redirect("http://a.test/there", 200)


@pytest.mark.parametrize(
    "html",
    [
        f"<meta http-equiv=refresh content='0; url=/there'><p>{STORY}",
        "<meta http-equiv=refresh content='600; url=/there'><p>Scores",
        "<meta http-equiv=refresh content='0; url=/dir/page'>",
        "<meta http-equiv=refresh content=30>",
        "<meta http-equiv=refresh content='0; url=/there'><a href=/other>or there</a>",
        "<noscript><meta http-equiv=refresh content='0; url=/without-scripts'></noscript>",
        "<meta name=robots content=nofollow><meta http-equiv=refresh content='0; url=/there'>",
        "<script>if (top != self) top.location = '/there'</script>",
        "<script>location = '/' + navigator.language</script>",
        "<script>if (x) location = '/a'; else location = '/b'</script>",
        f"<script>if (!user) location = '/login'</script>{BUNDLE}",
        "<script>if (location.href == '/there') go()</script>",
        "<script>relocation = '/there'</script>",
        "<script type=text/plain>location = '/there'</script>",
    ],
)
def test_a_page_that_does_not_only_forward_is_none(html: str) -> None:
    assert isinstance(answer(html), Page)


def test_a_server_may_ask_not_to_follow_where_a_page_forwards() -> None:
    assert isinstance(answer("<script>location = '/there'</script>", "X-Robots-Tag: nofollow\r\n"), Page)


def test_where_the_scripts_of_a_shell_may_lead_are_links() -> None:
    page = read(f"<script>if (!user) location = '/login'; else location.replace('/home')</script>{BUNDLE}")
    assert (page.needs_scripts, targets(page)) == (True, ["/login", "/home"])
