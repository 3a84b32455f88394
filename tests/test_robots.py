"""robots.txt by RFC 9309: which group speaks to us, which rule wins, how long to wait, and nothing without bounds."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spoor import robots
from spoor.fetch.robots_text import text_of
from tests.effort import times

AGENT = "spoor/0.1 (+https://example.org/crawl)"


def delay(text: str, agent: str = AGENT) -> float | None:
    return robots.parse(text, agent).delay


def allows(text: str, path: str, agent: str = AGENT) -> bool:
    return robots.allows(text, agent, "http://a.test" + path)


def test_nothing_said_forbids_nothing() -> None:
    assert allows("", "/x") and allows("Disallow: /x", "/x") and allows("User-agent: *\nDisallow:", "/x")
    assert delay("") is None


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
        ("Disallow: /a*", "/a", False),
        ("Disallow: /a*b*c$", "/a-b-b-c", False),
        ("Disallow: /a*b*c$", "/a-c-b", True),
        ("Disallow: /a*a$", "/a", True),
        ("Disallow: /a$", "/a", False),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: /a$b", "/a$b", False),
        ("Disallow: /$", "/", False),
        ("Disallow: /$", "/a", True),
        ("Disallow: *?", "/a?b=c", False),
        ("Disallow: /?", "/?b", False),
        ("Disallow: a", "/a", True),
        ("disALLOW : /a # not for you", "/a", False),
        ("Disallow: /a\r\nAllow: /a/b", "/a/b", True),
        ("Disallow: /a\rAllow: /a/b", "/a/b", True),
        ("Disallow: /a\x0bAllow: /a", "/a", True),
    ],
)
def test_the_longest_rule_wins_and_the_one_that_allows_if_two_are_as_long(rules: str, path: str, allowed: bool) -> None:
    assert allows("User-agent: *\n" + rules, path) is allowed


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/ü", "/%C3%BC", True),
        ("/%c3%bc", "/%C3%BC", True),
        ("/%C3%BC", "/%c3%bc", True),
        ("/%7Ejoe", "/~joe/x", True),
        ("/~joe", "/%7ejoe", True),
        ("/%62%61%7A", "/baz", True),
        ("/a%2Fb", "/a/b", False),
        ("/a/b", "/a%2Fb", False),
        ("/a%3Fb", "/a?b", False),
        ("/a?b", "/a%3Fb", False),
        ("/a%3fb", "/a%3Fb", True),
        ("/a b", "/a%20b", True),
        ("/a|b", "/a%7Cb", True),
        ("/file-%2A.html", "/file-*.html", True),
        ("/file-%2A.html", "/file-x.html", False),
        ("/foo-%24", "/foo-$", True),
        ("/foo-%24", "/foo-", False),
        ("/50%", "/50%", True),
        ("/50%zz", "/50%zz", True),
    ],
)
def test_escapes_are_compared_by_what_they_mean_and_reserved_characters_as_they_stand(
    pattern: str, path: str, matches: bool
) -> None:
    assert allows(f"User-agent: *\nDisallow: {pattern}", path) is not matches


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


@pytest.mark.parametrize("name", ["s", "spoo", "spoorer", "spoorbot", "spoor-bot", "poor", "example", "crawl"])
def test_part_of_a_name_is_another_name(name: str) -> None:
    assert allows(f"User-agent: {name}\nDisallow: /", "/x")
    assert not allows(f"User-agent: {name}\nAllow: /\n\nUser-agent: *\nDisallow: /", "/x")


@pytest.mark.parametrize("name", ["spoor", "SPOOR", "spoor/1.0", "spoor 1.0", "spoor*", "spoor;", "spoor, x", "spoor2"])
def test_a_product_token_ends_where_other_characters_begin(name: str) -> None:
    assert not allows(f"User-agent: {name}\nDisallow: /", "/x")
    assert allows(f"User-agent: {name}\nAllow: /\n\nUser-agent: *\nDisallow: /", "/x")


@pytest.mark.parametrize(
    "line", ["Sitemap: http://a.test/s", "Noise", "Noindex: /x", "Crawl-delay: 1", "", "# so", ":"]
)
def test_lines_that_are_no_rule_break_no_group(line: str) -> None:
    assert not allows(f"User-agent: spoor\n{line}\nUser-agent: other\n{line}\nDisallow: /a", "/a")
    assert not allows(f"User-agent: other\n{line}\nUser-agent: spoor\n{line}\nDisallow: /a", "/a")
    assert not allows(f"User-agent: *\nDisallow: /x\n{line}\nDisallow: /a", "/a")


def test_a_rule_ends_the_list_of_names_even_if_it_is_empty() -> None:
    assert allows("User-agent: spoor\nDisallow:\nUser-agent: other\nDisallow: /", "/x")


@pytest.mark.parametrize("mark", ["\ufeff", "\ufffd"])
def test_a_byte_order_mark_is_no_part_of_the_first_line(mark: str) -> None:
    assert not allows(mark + "User-agent: *\nDisallow: /a", "/a")
    assert allows("User-agent: *\n" + mark + "Disallow: /a", "/a")


# The cases that Google publishes for its parser, written anew from what its documentation and RFC 9309 say of them.

FOO = "http://foo.bar"


def foo(text: str, path: str, agent: str = "FooBot") -> bool:
    return robots.allows(text, agent, FOO + path)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("user-agent: FooBot\ndisallow: /\n", False),
        ("foo: FooBot\nbar: /\n", True),
        ("user-agent FooBot\ndisallow /\n", False),
        ("USER-AGENT: FooBot\nDISALLOW: /\n", False),
        ("uSeR-aGeNt: FooBot\ndIsAlLoW: /\n", False),
        ("USER-AGENT: FOOBOT\nDISALLOW: /\n", False),
        ("useragent: FooBot\ndisalow: /\n", False),
        ("user-agent: FooBot\ndisallow: /\nallow: /x/page.html\n", True),
        ("user-agent: *\ndisallow: /\nuser-agent: FooBot\nallow: /\n", True),
        ("user-agent: FooBot-Images\ndisallow: /\n", True),
        ("user-agent: Foo\ndisallow: /\n", True),
        ("user-agent: FooBot Bar\ndisallow: /\n", False),
    ],
)
def test_lines_and_names(text: str, allowed: bool) -> None:
    assert foo(text, "/x/page.html") is allowed


FOUR = """allow: /foo/bar/

user-agent: FooBot
disallow: /
allow: /x/
user-agent: BarBot
disallow: /
allow: /y/


allow: /w/
user-agent: BazBot

user-agent: FooBot
allow: /z/
disallow: /
"""


@pytest.mark.parametrize(
    ("agent", "allowed", "forbidden"),
    [
        ("FooBot", "/x/b /z/d", "/y/c /w/a /foo/bar/"),
        ("BarBot", "/y/c /w/a", "/x/b /z/d /foo/bar/"),
        ("BazBot", "/z/d", "/x/b /y/c /w/a /foo/bar/"),
    ],
)
def test_groups_of_several_names(agent: str, allowed: str, forbidden: str) -> None:
    assert all(foo(FOUR, path, agent) for path in allowed.split())
    assert not any(foo(FOUR, path, agent) for path in forbidden.split())


@pytest.mark.parametrize("other", ["Sitemap: https://foo.bar/sitemap", "Invalid-Unknown-Line: unknown"])
def test_other_lines_between_names_leave_them_in_one_group(other: str) -> None:
    for text in (
        f"User-agent: BarBot\n{other}\nUser-agent: *\nDisallow: /\n",
        f"User-agent: FooBot\n{other}\nUser-agent: *\nDisallow: /\n",
    ):
        assert not foo(text, "/", "FooBot") and not foo(text, "/", "BarBot")


def test_the_group_for_all_is_for_those_whom_no_group_names() -> None:
    text = "user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /\n"
    assert foo("", "/x/y") and not foo(text, "/x/y") and foo(text, "/x/y", "BarBot")
    only = "user-agent: FooBot\ndisallow: /\nuser-agent: BarBot\ndisallow: /\nuser-agent: BazBot\ndisallow: /\n"
    assert foo(only, "/x/y", "QuxBot")


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("disallow: /x/page.html\nallow: /x/", "/x/page.html", False),
        ("allow: /x/page.html\ndisallow: /x/", "/x/page.html", True),
        ("allow: /x/page.html\ndisallow: /x/", "/x/", False),
        ("disallow: \nallow: ", "/x/page.html", True),
        ("disallow: /\nallow: /", "/x/page.html", True),
        ("disallow: /x\nallow: /x/", "/x", False),
        ("disallow: /x\nallow: /x/", "/x/", True),
        ("disallow: /x/page.html\nallow: /x/page.html", "/x/page.html", True),
        ("allow: /page\ndisallow: /*.html", "/page.html", False),
        ("allow: /page\ndisallow: /*.html", "/page", True),
        ("allow: /x/page.\ndisallow: /*.html", "/x/page.html", True),
        ("allow: /x/page.\ndisallow: /*.html", "/x/y.html", False),
        ("disallow: /X/", "/x/y", True),
        ("disallow: /x/", "/x/y", False),
        ("allow: /p\ndisallow: /", "/page", True),
        ("allow: /folder\ndisallow: /folder", "/folder/page", True),
        ("allow: /page\ndisallow: /*.htm", "/page.htm", False),
        ("allow: /page\ndisallow: /*.ph", "/page.php5", True),
        ("allow: /$\ndisallow: /", "/", True),
        ("allow: /$\ndisallow: /", "/page.htm", False),
        ("disallow: /\nallow: /foo?qux=t&baz=http://foo.bar?tar&par", "/foo?qux=t&baz=http://foo.bar?tar&par", True),
        ("disallow: /\nallow: /foo/bar/ツ", "/foo/bar/%E3%83%84", True),
        ("disallow: /\nallow: /foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", True),
        ("disallow: /\nallow: /foo/bar/%62%61%7A", "/foo/bar/baz", True),
        ("disallow: /foo/bar/quz\nallow: /foo/*/qux", "/foo/bar/quz", False),
        ("disallow: /foo/bar/quz\nallow: /foo/*/qux", "/foo/quz", True),
        ("disallow: /foo/bar$\nallow: /foo/bar/qux", "/foo/bar", False),
        ("disallow: /foo/bar$\nallow: /foo/bar/qux", "/foo/bar/", True),
        ("# disallow: /\ndisallow: /foo/quz#qux\nallow: /", "/foo/bar", True),
        ("# disallow: /\ndisallow: /foo/quz#qux\nallow: /", "/foo/quz", False),
    ],
)  # fmt: skip
def test_the_most_specific_rule(rules: str, path: str, allowed: bool) -> None:
    assert foo("user-agent: FooBot\n" + rules, path) is allowed


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("/fish", "/fish /fish.html /fish/salmon /fishheads /fishheads/y /fish?id=a", "/Fish.asp /catfish /?id=fish"),
        ("/fish*", "/fish /fish.html /fish/salmon /fishheads /fishheads/y /fish?id=a", "/Fish.asp /catfish /?id=fish"),
        ("/fish/", "/fish/ /fish/salmon /fish/?salmon /fish/salmon.html /fish/?id=a", "/fish /fish.html /Fish/x"),
        ("/*.php", "/f.php /folder/f.php /folder/f.php?p=x /folder/any.php.file.html /f.php/", "/ /windows.PHP"),
        ("/*.php$", "/f.php /folder/f.php", "/f.php?p=x /f.php/ /f.php5 /windows.PHP /x?php"),
        ("/fish*.php", "/fish.php /fishheads/catfish.php?p=x", "/Fish.PHP"),
    ],
)  # fmt: skip
def test_patterns_as_the_documentation_lists_them(pattern: str, yes: str, no: str) -> None:
    text = f"user-agent: FooBot\ndisallow: /\nallow: {pattern}\n"
    assert [path for path in yes.split() if not foo(text, path)] == []
    assert [path for path in no.split() if foo(text, path)] == []


@pytest.mark.parametrize(
    "text",
    [
        "User-Agent: foo\nAllow: /some/path\nUser-Agent: bar\n\n\nDisallow: /\n",
        "User-Agent: foo\r\nAllow: /some/path\r\nUser-Agent: bar\r\n\r\n\r\nDisallow: /\r\n",
        "User-Agent: foo\rAllow: /some/path\rUser-Agent: bar\r\r\rDisallow: /\r",
        "User-Agent: foo\nAllow: /some/path\nUser-Agent: bar\n\n\nDisallow: /",
        "\ufeffUser-Agent: foo\nAllow: /some/path\nUser-Agent: bar\nDisallow: /\n",
    ],
)
def test_line_ends_of_any_kind(text: str) -> None:
    assert foo(text, "/other", "foo") and not foo(text, "/other", "bar")


SEVERAL = """
User-Agent: *
Disallow: *.png$
Disallow: /drafts/
Allow: /papers/

User-Agent: firstbot
Disallow:/
Allow:/drafts/one.html
Allow:/drafts/shown.png

User-Agent: secondbot
User-Agent: thirdbot
Disallow: /drafts/one.html

User-Agent: lastbot
"""


@pytest.mark.parametrize(
    ("agent", "allowed", "forbidden"),
    [
        ("anybot", "/papers/x /index.html /x.png?y", "/drafts/one.html /drafts/ /x.png /y/x.png"),
        ("firstbot", "/drafts/one.html /drafts/shown.png /drafts/one.html?x", "/ /papers/ /drafts/"),
        ("secondbot", "/ /drafts/two.html /x.png", "/drafts/one.html"),
        ("thirdbot", "/ /drafts/two.html /x.png", "/drafts/one.html"),
        ("lastbot", "/ /drafts/one.html /x.png", ""),
    ],
)
def test_a_file_as_in_the_examples_of_the_rfc(agent: str, allowed: str, forbidden: str) -> None:
    assert [path for path in allowed.split() if not foo(SEVERAL, path, agent)] == []
    assert [path for path in forbidden.split() if foo(SEVERAL, path, agent)] == []


@pytest.mark.parametrize("rules", ["Allow: /a\nDisallow: /ab", "Disallow: /ab\nAllow: /a"])
def test_the_order_of_rules_is_of_no_account(rules: str) -> None:
    text = "User-agent: *\nDisallow: /\n" + rules
    assert [allows(text, path) for path in ("/a", "/ab", "/b")] == [True, False, False]


@pytest.mark.parametrize("escape", ["%3F", "%3f", "%26", "%2F", "%23", "%25"])
def test_a_reserved_character_is_another_one_when_it_is_escaped(escape: str) -> None:
    text, plain = f"User-agent: *\nDisallow: /a{escape}b", bytes.fromhex(escape[1:]).decode()
    assert not allows(text, f"/a{escape.upper()}b") and not allows(text, f"/a{escape.lower()}bc")
    assert allows(text, f"/a{plain}b")


# Delays.


@pytest.mark.parametrize(
    ("rules", "seconds"),
    [
        ("Crawl-delay: 2.5", 2.5),
        ("Crawl-delay: .5", 0.5),
        ("Crawl-delay: soon", None),
        ("Crawl-delay: -1", None),
        ("Crawl-delay: inf", None),
        ("Crawl-delay: nan", None),
        ("Crawl-delay: 1e999", None),
        ("Crawl-delay: ٣", None),
        ("Crawl-delay: 2\nCrawl-delay: 7\nCrawl-delay: 1", 7),
        ("Request-rate: 1/10", 10),
        ("Request-rate: 30/1m", 2),
        ("Request-rate: 1/10s 1300-1659", 10),
        ("Crawl-delay: 1\nRequest-rate: 1/4", 4),
        ("Request-rate: 1/0", None),
        ("Request-rate: 0/1", None),
        ("Request-rate: 1", None),
        ("Disallow: /x", None),
    ],
)
def test_the_rest_that_is_asked_for(rules: str, seconds: float | None) -> None:
    assert delay("User-agent: *\n" + rules) == seconds


def test_the_rest_is_that_of_our_group() -> None:
    assert delay(GROUPS) == 3.5
    assert delay(GROUPS, "somebody") is None


def test_the_rest_is_for_those_who_were_named_before_it() -> None:
    text = "User-agent: slow\nCrawl-delay: 99\n\nUser-agent: *\nCrawl-delay: 2\nDisallow: /x"
    assert (delay(text, "slow"), delay(text)) == (99, 2)


NUMBERS = st.one_of(
    st.sampled_from(["9" * 400, "9" * 5000, "0." + "0" * 400 + "1", "0", "inf", "nan", "-1", "1e400", "", "٣", "²"]),
    st.text("0123456789.-e", max_size=12),
)


@given(NUMBERS, NUMBERS, st.sampled_from(["", "s", "m", "h", "d", "x"]))
def test_no_number_is_too_absurd_to_be_bounded(one: str, other: str, unit: str) -> None:
    for line in (f"Crawl-delay: {one}", f"Request-rate: {one}/{other}{unit}"):
        seconds = delay("User-agent: *\n" + line)
        assert seconds is None or (0.0 <= seconds <= robots.LONGEST_DELAY and math.isfinite(seconds))


def test_a_host_that_asks_for_days_gets_an_hour() -> None:
    assert delay("User-agent: *\nCrawl-delay: 86400", "spoor") == robots.LONGEST_DELAY == 3600.0


# Bounds.


def test_no_more_than_500_kib_are_read_and_no_half_line() -> None:
    text = "User-agent: *\nDisallow: /a\n" + "# filler\n" * 60_000 + "Disallow: /b\n"
    assert not allows(text, "/a") and allows(text, "/b")
    begun = "User-agent: *\n".ljust(robots.LONGEST_FILE - len("Disallow: /"), "\n") + "Disallow: /x/y"
    assert allows(begun, "/z") and allows(begun, "/x/y")


@pytest.mark.parametrize(
    "line",
    [
        lambda number: f"User-agent: {number}",
        lambda number: f"User-agent: bot{'x' * (number % 999)}",
        lambda number: f"Allow: /{number}",
        lambda number: f"Disallow: /*{number}",
        lambda number: f"Disallow: /{number}$",
        lambda number: "Disallow: /" + "a*" * 99 + str(number),
        lambda number: "Crawl-delay: 1",
        lambda number: "Request-rate: 1/" + "9" * 99,
        lambda number: "",
        lambda number: "#",
        lambda number: ":",
        lambda number: "Disallow: /ü%41%",
    ],
)
def test_a_file_full_of_anything_takes_little_memory(line: Callable[[int], str]) -> None:
    """Names and rules that multiply would take gigabytes."""
    half = robots.LONGEST_FILE // 2
    lines = (line(number) for number in range(half))
    names = "\n".join(f"User-agent: {'a' * (n % 50)}" for n in range(half // 60))
    text = f"{names}\nUser-agent: *\nUser-agent: spoor\n" + "\n".join(lines)[:half]
    tracemalloc.start()
    rules = robots.parse(text, AGENT)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000_000 and kept < 2 * rules.size + 5_000_000
    rules.allow("http://a.test/" + "a" * 2_000)


def test_many_stars_are_matched_without_going_back() -> None:
    """A matcher that tries every way for every star would not live to see the end of it."""
    assert allows("User-agent: *\nDisallow: /" + "a*" * 50_000 + "b$", "/" + "a" * 20_000)
    assert not allows("User-agent: *\nDisallow: /" + "a*" * 5_000 + "b$", "/" + "a" * 20_000 + "b")


def test_of_rules_with_more_stars_than_can_be_tried_the_beginning_counts() -> None:
    many = "".join(f"Disallow: /{number:04}*x\nAllow: /{number:04}*xy\n" for number in range(robots.MOST_STARS))
    text = f"User-agent: *\n{many}"
    assert allows(text, "/0001/") and not allows(text, "/0001/x") and allows(text, "/0001/xy")
    assert not allows(text, "/0999/") and not allows(text, "/0999/xy") and allows(text, "/z")


def test_rules_are_kept_ready_within_a_bound_on_their_size() -> None:
    asked: list[str] = []

    def text_of(url: str) -> str:
        asked.append(url)
        return "User-agent: *\n" + "".join(f"Disallow: /{url}/{number}\n" for number in range(1_000))

    one = robots.RulesCache(AGENT, text_of).rules("0").size
    cache = robots.RulesCache(AGENT, text_of, most=4 * one)
    asked.clear()
    for number in (0, 1, 2, 0, 3, 0, 1):
        assert not cache.rules(str(number)).allow(f"http://a.test/{number}/7")
    assert asked == ["0", "1", "2", "3", "1"]


def test_kept_rules_are_those_of_the_group_that_names_us() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: spoor\nDisallow: /x"
    cache = robots.RulesCache(AGENT, lambda url: text)
    for rules in (cache.rules("a"), cache.read("b", text)):
        assert rules.allow("http://a.test/") and not rules.allow("http://a.test/x")


def test_what_a_file_says_now_replaces_what_it_said() -> None:
    cache = robots.RulesCache(AGENT, lambda url: "User-agent: *\nDisallow: /")
    assert not cache.rules("a").allow("http://a.test/x")
    cache.read("a", "")
    assert cache.rules("a").allow("http://a.test/x")


LINES = st.sampled_from(
    ["User-agent: *", "User-agent:", "Disallow: /*", "Allow: $", "Crawl-delay: 1e999", "\0", "%zz", ":", "\ud800"]
)


@given(st.one_of(st.text(), st.lists(st.one_of(LINES, st.text()), max_size=9).map("\n".join)), st.text())
def test_rubbish_never_raises(text: str, agent: str) -> None:
    for path in ("/", "//x", "/%zz?[#", "/a;b?c=%C3"):
        allows(text, path, agent)
    delay(text, agent)


# A slow reader, as one would write it from the specification.


def slowly(text: str, name: str, path: str) -> bool:
    groups: list[tuple[list[str], list[tuple[str, str]]]] = []
    for line in text.split("\n"):
        key, _, value = line.partition(":")
        if key == "User-agent":
            if not groups or groups[-1][1]:
                groups.append(([], []))
            groups[-1][0].append(value)
        elif key in ("Allow", "Disallow") and groups:
            groups[-1][1].append((key, value))
    ours = [rules for names, rules in groups if name in names]
    theirs = [rules for names, rules in groups if "*" in names]
    spoken = ours or theirs
    matching = [
        (len(decoded(pattern)), key)
        for rules in spoken
        for key, pattern in rules
        if pattern and matches(decoded(pattern), decoded(path))
    ]
    longest = max([length for length, _ in matching], default=0)
    winners = [key for length, key in matching if length == longest]
    return not winners or "Allow" in winners


def decoded(path: str) -> str:
    """The alphabet of the test has one escape that says a letter, and one that says a reserved character."""
    return path.replace("%61", "a")


def matches(pattern: str, path: str) -> bool:
    if not pattern:
        return True
    if pattern == "$":
        return not path
    if pattern[0] == "*":
        return matches(pattern[1:], path) or (bool(path) and matches(pattern, path[1:]))
    return bool(path) and pattern[0] == path[0] and matches(pattern[1:], path[1:])


LETTERS = st.sampled_from(["a", "b", "/", "?", "%61", "%2F"])
PATHS = st.lists(LETTERS, max_size=7).map("".join).map("/{}".format)
PIECES = st.lists(LETTERS, max_size=3).map("".join)
PATTERNS = st.builds("/{}{}".format, st.lists(PIECES, min_size=1, max_size=4).map("*".join), st.sampled_from(["", "$"]))
GROUP_LINES = st.one_of(
    st.sampled_from(["spoor", "other", "*"]).map("User-agent:{}".format),
    st.one_of(PATTERNS, st.just("")).map("Allow:{}".format),
    st.one_of(PATTERNS, st.just("")).map("Disallow:{}".format),
    st.sampled_from(["Sitemap:x", "", "Crawl-delay:1"]),
)


@settings(max_examples=times(150))
@given(st.lists(GROUP_LINES, max_size=12).map("\n".join), PATHS, st.sampled_from(["spoor", "other", "third"]))
def test_it_reads_as_a_slow_reader_reads(text: str, path: str, name: str) -> None:
    assert allows(text, path, name) == slowly(text, name, path)


@settings(max_examples=times(150))
@given(PATTERNS, PATHS)
def test_it_matches_as_a_slow_matcher_matches(pattern: str, path: str) -> None:
    assert allows(f"User-agent: *\nDisallow: {pattern}", path) is not matches(decoded(pattern), decoded(path))


def test_sitemaps_are_named_to_everybody_and_end_no_list_of_names() -> None:
    text = (
        "User-agent: spoor\nSitemap: https://a.test/one.xml\nUser-agent: other\nDisallow: /x\n"
        "sitemap : HTTP://B.test/two.xml # 2\nSitemap: /three.xml\nSitemap: https://a.test/one.xml"
    )
    for agent in ("spoor", "other", "third"):
        assert robots.parse(text, agent).sitemaps == ("https://a.test/one.xml", "http://b.test/two.xml")
        known = robots.parse(text, agent, "http://c.test/robots.txt").sitemaps
        assert known == ("https://a.test/one.xml", "http://b.test/two.xml", "http://c.test/three.xml")
    assert not robots.allows(text, "spoor", "http://a.test/x")


@pytest.mark.parametrize("encoding", ["cp874", "shift_jis", "gbk", "latin-1"])
def test_a_pattern_that_is_not_utf_8_is_compared_byte_by_byte(encoding: str) -> None:
    path = {"cp874": "/ไทย", "shift_jis": "/本", "gbk": "/书", "latin-1": "/café"}[encoding].encode(encoding)
    text = text_of(b"User-agent: *\nDisallow: " + path)
    assert not allows(text, quote(path)) and allows(text, "/x")


def test_a_no_break_space_of_latin_1_is_white_space() -> None:
    assert not allows(text_of(b"User-agent:\xa0*\nDisallow: /a\xa0"), "/a/b")


def test_a_file_that_names_many_sitemaps_is_heeded_for_the_first() -> None:
    text = "\n".join(f"Sitemap: http://a.test/{number}" for number in range(1_000))
    assert len(robots.parse(text, "spoor").sitemaps) == robots.MOST_SITEMAPS
