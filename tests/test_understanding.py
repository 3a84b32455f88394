"""What a response means for the visit: by status, headers and purpose, without any network."""

from __future__ import annotations

from email.utils import formatdate
from typing import Literal

import pytest

from spoor.fetch.responses import understand
from spoor.records import Failure, Page, Redirect, Response, RobotsRules, SitemapFile, Visit

URL = "http://a.test/dir/page"
ADDRESS = "192.0.2.1"
NOW = 1_700_000_000.0
ParsedLine = Page | Redirect | Failure | RobotsRules | SitemapFile


def understood(
    status: int, *headers: str, body: bytes = b"", cut: str = "", purpose: Literal["page", "robots", "sitemap"] = "page"
) -> ParsedLine:
    visit = Visit(URL, "a.test", 0, NOW, purpose)
    pairs = [header.split(": ", 1) for header in headers]
    first = {name.lower(): value for name, value in reversed(pairs)}
    head = "\r\n".join([f"HTTP/1.1 {status} X", *headers, "", ""]).encode()
    return understand(visit, Response(URL, status, first, body, body, b"", head, ADDRESS, NOW, 0.1, cut))


def page(*headers: str, body: bytes = b"<a href=x>x</a>") -> Page:
    answer = understood(200, "Content-Type: text/html", *headers, body=body)
    assert isinstance(answer, Page)
    return answer


def test_a_page_is_read() -> None:
    answer = page(body=b"<title>T</title><a href=other>o</a>")
    assert (answer.url, answer.title, [link.url for link in answer.links]) == (URL, "T", ["http://a.test/dir/other"])


def test_half_a_page_is_read_too() -> None:
    answer = understood(200, "Content-Type: text/html", body=b"<title>T</title><a hr", cut="disconnect")
    assert isinstance(answer, Page) and answer.title == "T"


def test_a_body_of_another_type_is_a_page_without_text() -> None:
    answer = understood(200, "Content-Type: image/png", cut="type")
    assert isinstance(answer, Page) and (answer.content_type, answer.links) == ("image/png", ())


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_redirects_are_joined_and_normalised(status: int) -> None:
    assert understood(status, "Location: ../b/%c3%bc#x") == Redirect("http://a.test/b/%C3%BC", status)
    assert understood(status, "Location: //B.test:80") == Redirect("http://b.test/", status)


@pytest.mark.parametrize("location", ["Location: mailto:a@b", "Location: http://[", "Location:  ", "X-Other: y"])
def test_a_redirect_that_leads_nowhere_is_a_failure(location: str) -> None:
    assert understood(302, location) == Failure("HTTP 302 has no valid target")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 451, 999])
def test_what_is_not_there_is_not_tried_again(status: int) -> None:
    assert understood(status) == Failure(f"HTTP {status}")


def test_a_redirect_to_what_is_too_long_for_a_url_leads_nowhere() -> None:
    assert understood(301, f"Location: /{'x' * 60_000}") == Failure("HTTP 301 has no valid target")


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_what_may_heal_is_tried_again(status: int) -> None:
    leave_alone = status in (429, 503)
    assert understood(status) == Failure(f"HTTP {status}", 60, leave_alone)
    assert understood(status, purpose="robots") == Failure(f"HTTP {status}", 60, leave_alone)


@pytest.mark.parametrize(
    ("said", "delay"),
    [
        ("7", 7),
        ("0", 1),
        ("99999999", 86_400),
        ("9" * 5000, 86_400),
        (formatdate(NOW + 120, usegmt=True), 120),
        (formatdate(NOW - 120, usegmt=True), 1),
        ("Tue, 14 Nov 2023 22:15:20 -0000", 120),
        ("-5", 60),
        ("soon", 60),
        ("", 60),
        ("Mon, 99 Foo 99999 99:99:99 GMT", 60),
    ],
)
def test_retry_after_is_honoured_within_reason(said: str, delay: float) -> None:
    assert understood(429, f"Retry-After: {said}") == Failure("HTTP 429", delay, whole_host=True)


@pytest.mark.parametrize(
    ("tags", "noindex", "nofollow"),
    [
        ([], False, False),
        (["noindex"], True, False),
        (["NOFOLLOW"], False, True),
        (["none"], True, True),
        (["noindex", "nofollow"], True, True),
        (["noarchive, nofollow"], False, True),
        (["googlebot: none"], False, False),
        (["googlebot: noindex, nofollow"], False, False),
        (["Spoor: noindex"], True, False),
        (["googlebot: nofollow, spoor: noindex"], True, False),
        (["googlebot: none", "noindex"], True, False),
        (["unavailable_after: Wed, 25 Jun 2010 15:00:00 PST, nofollow"], False, True),
        (["max-snippet: 5, noindex"], True, False),
    ],
)
def test_the_directives_of_a_server(tags: list[str], noindex: bool, nofollow: bool) -> None:
    answer = page(*(f"X-Robots-Tag: {tag}" for tag in tags))
    assert (answer.noindex, answer.links[0].nofollow) == (noindex, nofollow)


def test_a_server_does_not_take_back_what_the_page_asks() -> None:
    answer = page("X-Robots-Tag: all", body=b"<meta name=robots content=noindex><a href=x rel=nofollow>x</a>")
    assert answer.noindex and answer.links[0].nofollow


def rules(status: int, *headers: str, body: bytes = b"", cut: str = "") -> ParsedLine:
    return understood(status, *headers, body=body, cut=cut, purpose="robots")


def test_the_rules_of_a_host() -> None:
    assert rules(200, body="Disallow: /ü".encode()) == RobotsRules("Disallow: /ü", ADDRESS)
    assert rules(200, body=b"Disallow: /\xff") == RobotsRules("Disallow: /%FF", ADDRESS)


def test_rules_are_read_up_to_500_kilobytes() -> None:
    line = b"Disallow: /private\n"
    answer = rules(200, body=line * 100_000, cut="length")
    assert answer == RobotsRules(line.decode() * (512_000 // len(line)), ADDRESS)


def test_half_a_line_is_not_read_for_a_whole_one() -> None:
    assert rules(200, body=b"Disallow: /a\nAllow: /", cut="length") == RobotsRules("Disallow: /a\n", ADDRESS)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_no_rules_forbid_nothing(status: int) -> None:
    assert rules(status, body=b"User-agent: *\nDisallow: /") == RobotsRules("", ADDRESS)


def test_rules_may_be_elsewhere() -> None:
    assert rules(301, "Location: /new") == Redirect("http://a.test/new", 301, ADDRESS)


@pytest.mark.parametrize(
    "location", [(), ("Location: ftp://a.test/r",), ("Location: http://[",), ("Location: data:,",)]
)
def test_rules_that_are_where_nobody_can_ask_for_them_could_not_be_had(location: tuple[str, ...]) -> None:
    assert rules(302, *location) == Failure("HTTP 302 has no valid target", 60)


@pytest.mark.parametrize("cut", ["disconnect", "time", "type", "encoding"])
def test_half_a_file_of_rules_is_not_trusted(cut: str) -> None:
    assert rules(200, body=b"User-agent: *", cut=cut) == Failure(f"robots.txt is truncated: {cut}", 60)
