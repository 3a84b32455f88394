"""robots.txt against the suites of others: the decisions of Google, files of 2,116 hosts, cases of crawler-commons."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from spoor import robots
from spoor.fetch.responses import understand
from spoor.fetch.robots_text import text_of
from spoor.records import RobotsRules, Visit
from spoor.urls import normalise
from tests.effort import EFFORT
from tests.kept_responses import response
from tests.plain_robots import PlainRobots
from tests.suites import members, needs_suite

_FIELD = re.compile(r'(robotstxt|testurl|useragent|expected_outcome|\w+):\s*((?:"(?:[^"\\]|\\.)*"\s*)+|\w+)')
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
SAMPLE = 7
"""Of the real files every so manieth is read in each run of the tests, all of them in `make thorough`."""
MAX_PATTERNS = 12
"""Patterns of a file from which paths are made."""

OTHER_THAN_GOOGLE = {
    ("index-page.textproto", "http://foo.com/allowed-slash/"): "a rule for index.html is not one for its folder",
    ("non-ascii-paths.textproto", "http://foo.bar/foo/bar/ツ"): "characters and their escapes are the same (RFC 9309)",
    ("non-ascii-paths.textproto", "http://foo.bar/foo/bar/baz"): "escapes of letters are letters (RFC 9309)",
    ("user-agent-name.textproto", "http://foo.bar/x/y"): "a name ends at a space, so Foo Bar is Foo",
    ("327748.textproto", "http://m.example.com/robots.txt"): "/robots.txt may always be fetched (RFC 9309)",
    ("369883.textproto", "http://example.com/robots.txt"): "/robots.txt may always be fetched (RFC 9309)",
    ("369883.textproto", "http://example.com/foo/bar"): "AB42bot is AB: a product token has no digits (RFC 9309)",
    ("369883.textproto", "http://example.com/"): "AB42bot is AB: a product token has no digits (RFC 9309)",
    ("860237.textproto", "http://example.com/robots.txt"): "/robots.txt may always be fetched (RFC 9309)",
}
"""Cases of Google's suite that we decide otherwise, and why."""


@needs_suite("robots-spec")
def test_googles_decisions() -> None:
    decisions = list(google())
    different = [(name, url) for name, url, agent, file, allowed in decisions if decided(file, agent, url) != allowed]
    assert set(different) == set(OTHER_THAN_GOOGLE)
    assert (len(decisions), len(different)) == (400, 11)


def google() -> Iterator[tuple[str, str, str, bytes, bool]]:
    """Name of the file, URL, agent, robots.txt, expected."""
    for name, content in sorted(members("robots-spec").items()):
        if name.endswith(".textproto"):
            said: dict[str, bytes] = {}
            for known, value in _FIELD.findall(_COMMENT.sub("", content.decode())):
                said[known] = (
                    b"".join(map(_bytes, _STRING.findall(value))) if value[0] == '"' else value.strip().encode()
                )
                if known == "expected_outcome":
                    url, agent = said["testurl"].decode(), said["useragent"].decode()
                    yield PurePosixPath(name).name, url, agent, said["robotstxt"], said[known] == b"ALLOWED"


def _bytes(literal: str) -> bytes:
    return bytes(ast.literal_eval("b" + literal)) if literal.isascii() else str(ast.literal_eval(literal)).encode()


def decided(file: bytes, agent: str, url: str) -> bool:
    return robots.allows(text_of(file), agent, normalise(url) or url)


@needs_suite("robots-real")
def test_files_of_real_hosts_are_read_as_by_a_plain_matcher() -> None:
    files = sorted((name, body) for name, body in members("robots-real").items() if "/test_data/" in name)
    assert len(files) == 2116
    chosen = files[:: 1 if EFFORT > 1 else SAMPLE]
    decisions = 0
    for name, body in chosen:
        text = text_of(body)
        plain = PlainRobots(text.encode())
        for agent in ("spoor", *plain.agents()[:1]):
            rules = robots.parse(text, agent)
            for path in paths(plain.patterns):
                url = normalise("http://a.test" + path.decode("utf-8", "replace"))
                if url is not None:
                    decisions += 1
                    assert rules.allow(url) == plain.allows(agent, url.removeprefix("http://a.test").encode()), (
                        name,
                        url,
                    )
    assert decisions > 20 * len(chosen)


def paths(patterns: list[bytes]) -> Iterator[bytes]:
    """Paths that a pattern matches, and neighbours."""
    yield b"/"
    step = max(1, len(patterns) // MAX_PATTERNS)
    for pattern in patterns[::step]:
        bare = b"/" + pattern.lstrip(b"/").removesuffix(b"$").replace(b"*", b"x")
        yield from (bare, bare + b"z", bare[:-1], bare.replace(b"x", b""))


@needs_suite("robots-real")
@pytest.mark.parametrize("host", ["store.usps.com", "www.myvue.com"])
def test_a_real_file_in_utf_16_forbids_what_it_says(host: str) -> None:
    body = next(body for name, body in members("robots-real").items() if name.endswith(f"/{host}"))
    plain = PlainRobots(body.decode("utf-16").encode())
    rules = robots.parse(text_of(body), "spoor")
    assert rules.size and plain.patterns
    for path in paths(plain.patterns):
        assert rules.allow(f"http://a.test{path.decode()}") == plain.allows("spoor", path), path


@needs_suite("robots-commons")
@pytest.mark.parametrize("encoding", ["utf16be", "utf16le", "utf8"])
def test_a_byte_order_mark_of_crawler_commons(encoding: str) -> None:
    text = text_of(members("robots-commons")[f"src/test/resources/robots/robots-with-{encoding}-bom.txt"])
    for path, allowed in {
        "/profile": False,
        "/login.aspx": False,
        "/fish/output/printer.html": False,
        "/x": True,
    }.items():
        assert robots.allows(text, "spoor", f"http://a.test{path}") is allowed, path


@needs_suite("robots-commons")
def test_a_relative_sitemap_of_crawler_commons() -> None:
    body = members("robots-commons")["src/test/resources/robots/relative-sitemap-robots.txt"]
    rules = robots.parse(text_of(body), "spoor", "http://a.test/robots.txt")
    assert rules.sitemaps == ("http://a.test/sitemap.xml",)


@needs_suite("robots-real")
def test_a_real_file_that_begins_as_html_says_what_its_rules_say() -> None:
    visit = Visit("http://a.test/robots.txt", "a.test", 1, 0.0, purpose="robots")
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    for name, body in sorted(members("robots-real").items())[::SAMPLE]:
        found = understand(visit, response(visit.url, body, head))
        if PlainRobots(body).groups:
            assert isinstance(found, RobotsRules) and robots.has_rules(found.text), name
        elif not robots.has_rules(text_of(body)):
            assert not isinstance(found, RobotsRules) or found.text == "", name
