"""robots.txt by RFC 9309: which group speaks to us, which rule wins, how long to rest."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor import robots

AGENT = "spoor/0.1 (+https://example.org/crawl)"


def allows(text: str, path: str, agent: str = AGENT) -> bool:
    return robots.allows(text, agent, "http://a.test" + path)


def test_nothing_said_forbids_nothing() -> None:
    assert allows("", "/x") and allows("Disallow: /x", "/x") and allows("User-agent: *\nDisallow:", "/x")
    assert robots.delay("", AGENT) is None


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("Disallow: /a", "/a/b", False),
        ("Disallow: /a", "/b", True),
        ("Disallow: /a/", "/a", True),
        ("Disallow: /", "/robots.txt", True),
        ("Disallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("Allow: /a/b\nDisallow: /a", "/a/c", False),
        ("Disallow: /a\nAllow: /a", "/a", True),
        ("Disallow: /A", "/a", True),
        ("Disallow: /*.gif$", "/x/y.gif", False),
        ("Disallow: /*.gif$", "/x/y.gif?z", True),
        ("Disallow: /a*z", "/a/b/z/c", False),
        ("Disallow: /a$", "/a", False),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: /a$b", "/a$b", False),
        ("Disallow: *?", "/a?b=c", False),
        ("Disallow: /?", "/?b", False),
        ("Disallow: /ü", "/%C3%BC", False),
        ("Disallow: /%C3%BC", "/%c3%bc", False),
        ("Disallow: /%7Ejoe", "/~joe/x", False),
        ("Disallow: /a%2Fb", "/a/b", True),
        ("disALLOW : /a # not for you", "/a", False),
        ("Disallow: /a\r\nAllow: /a/b", "/a/b", True),
    ],
)
def test_the_longest_rule_wins(rules: str, path: str, allowed: bool) -> None:
    assert allows("User-agent: *\n" + rules, path) is allowed


GROUPS = """
User-agent: *
Disallow: /all

User-agent: other
User-agent: Spoor
Disallow: /one

User-agent: SPOOR/2.0 # the same
Disallow: /two
Crawl-delay: 3.5
"""


@pytest.mark.parametrize(("path", "allowed"), [("/all", True), ("/one", False), ("/two", False), ("/three", True)])
def test_groups_for_us_are_one_and_replace_the_one_for_all(path: str, allowed: bool) -> None:
    assert allows(GROUPS, path) is allowed


@pytest.mark.parametrize("name", ["s", "spoo", "spoorer", "poor", "example", "crawl"])
def test_part_of_a_name_is_another_name(name: str) -> None:
    assert allows(f"User-agent: {name}\nDisallow: /", "/x")
    assert not allows(f"User-agent: {name}\nAllow: /\n\nUser-agent: *\nDisallow: /", "/x")


def test_unknown_lines_do_not_end_a_group_and_blank_ones_neither() -> None:
    assert not allows("User-agent: *\n\nSitemap: http://a.test/s\nNoise\n\nDisallow: /a", "/a")


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert not allows("\ufeffUser-agent: *\nDisallow: /a", "/a")


@pytest.mark.parametrize(
    ("rules", "seconds"),
    [
        ("Crawl-delay: 2.5", 2.5),
        ("Crawl-delay: soon", None),
        ("Crawl-delay: -1", None),
        ("Crawl-delay: inf", None),
        ("Request-rate: 1/10", 10),
        ("Request-rate: 30/1m", 2),
        ("Crawl-delay: 1\nRequest-rate: 1/4", 4),
        ("Request-rate: 1/0", None),
        ("Disallow: /x", None),
    ],
)
def test_the_rest_that_is_asked_for(rules: str, seconds: float | None) -> None:
    assert robots.delay("User-agent: *\n" + rules, AGENT) == seconds


def test_the_rest_is_that_of_our_group() -> None:
    assert robots.delay(GROUPS, AGENT) == 3.5
    assert robots.delay(GROUPS, "somebody") is None


LINES = st.sampled_from(
    ["User-agent: *", "User-agent:", "Disallow: /*", "Allow: $", "Crawl-delay: 1e999", "\0", "%zz", ":"]
)


@given(st.one_of(st.text(), st.lists(st.one_of(LINES, st.text()), max_size=9).map("\n".join)), st.text())
def test_rubbish_never_raises(text: str, agent: str) -> None:
    for path in ("/", "//x", "/%zz?[#", "/a;b?c=%C3"):
        allows(text, path, agent)
    robots.delay(text, agent)


def test_many_stars_take_no_time() -> None:
    began = time.perf_counter()
    assert allows("User-agent: *\nDisallow: /" + "a*" * 50_000 + "b$", "/" + "a" * 20_000)
    assert time.perf_counter() - began < 1


def test_a_host_that_asks_for_days_gets_five_minutes() -> None:
    assert robots.delay("User-agent: *\nCrawl-delay: 86400", "spoor") == robots.LONGEST_DELAY == 300.0
