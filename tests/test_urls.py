"""URLs: one spelling each, joined as browsers join them, and their near misses."""

from __future__ import annotations

import can_ada
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.urls import canonical, difference, host_of, join, near_misses, normalise


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("HTTP://Example.ORG/A", "http://example.org/A"),
        ("http://example.org:80", "http://example.org/"),
        ("https://example.org:443/x#part", "https://example.org/x"),
        ("https://example.org:80/", "https://example.org:80/"),
        ("http://example.org/a/./b/../c/", "http://example.org/a/c/"),
        ("http://example.org/.hidden/../c/.", "http://example.org/c/"),
        ("http://example.org/%7euser/?q=%c3%a4&b", "http://example.org/~user/?q=%C3%A4&b"),
        ("http://example.org/%66oo%2E%5F?%71=%2D%20", "http://example.org/foo._?q=-%20"),
        ("http://example.org/%2%46%25%32%66", "http://example.org/%2%46%252f"),
        ("http://example.org/a/%2e%2E/b", "http://example.org/b"),
        ("http://Example.org./a", "http://example.org/a"),
        ("http://example.org.:8080", "http://example.org:8080/"),
        ("http://example.org/ä b", "http://example.org/%C3%A4%20b"),
        ("http://user:secret@example.org/", "http://example.org/"),
        ("  http://example.org/\n", "http://example.org/"),
    ],
)
def test_a_url_has_one_spelling(url: str, same: str) -> None:
    assert normalise(url) == same


@pytest.mark.parametrize(
    "url", ["", "mailto:a@b.c", "ftp://a.b/", "javascript:void(0)", "/path", "http://", "http://a b/"]
)
def test_what_is_no_web_address_is_none(url: str) -> None:
    assert normalise(url) is None


@pytest.mark.parametrize(
    "href", ["%66", "/%7Ea", "?%71", "a?b=%7E", "http://b.test/%41", "//b.test./c", "http://b.test./c"]
)
def test_a_joined_url_has_one_spelling(href: str) -> None:
    url = join(BASE, href)
    assert url is not None and url == normalise(url) and "%" not in url and "./" not in url


def test_half_a_surrogate_pair_is_no_web_address() -> None:
    assert normalise("http://a.test/\ud800") is None


BASE = "http://a.test/b/c?q=/x/"


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("d", "http://a.test/b/d"),
        ("./d", "http://a.test/b/d"),
        ("../d", "http://a.test/d"),
        ("../../../d", "http://a.test/d"),
        ("/d", "http://a.test/d"),
        ("//other.test/d", "http://other.test/d"),
        ("?r", "http://a.test/b/c?r"),
        ("#part", BASE),
        ("", BASE),
        ("https://other.test", "https://other.test/"),
        ("HTTP:d", "http://a.test/b/d"),
        ("https:other.test/d", "https://other.test/d"),
        (r"\d", "http://a.test/d"),
        (r"\\other.test\d", "http://other.test/d"),
        (r"..\d", "http://a.test/d"),
        ("  d\n", "http://a.test/b/d"),
        ("d\n/e\tf", "http://a.test/b/d/ef"),
        ("java\nscript:alert(1)", None),
        ("javascript:alert(1)", None),
        ("mailto:a@b.c", None),
        ("d:e", None),
        ("d/e:f", "http://a.test/b/d/e:f"),
        ("1:e", "http://a.test/b/1:e"),
        ("http://", None),
    ],
)
def test_a_link_means_what_browsers_take_it_for(href: str, target: str | None) -> None:
    assert join(BASE, href) == target


href_parts = st.sampled_from(
    [
        "1",
        "2/",
        "../",
        "./",
        "/",
        "//",
        "\\",
        "?",
        "#",
        ":",
        "http:",
        "https:",
        "%2e",
        " ",
        "\t",
        "é",
        "@",
        "[::1]",
        ".",
    ]
)


@given(st.lists(href_parts, max_size=6).map("".join))
def test_a_link_can_be_joined_exactly_when_the_standard_can_parse_it(href: str) -> None:
    assert (join(BASE, href) is not None) == can_ada.can_parse(href, BASE)


@given(st.lists(href_parts, max_size=6).map("".join))
def test_a_joined_link_is_normalised(href: str) -> None:
    target = join(BASE, href)
    assert target is None or normalise(target) == target


USUAL_PARTS = (
    "a b-c. .d page.html ~e / / / /.. ? & = , ; : # % %2E %C3%A4 %c3 %41 ' | { + @ ! http://o.test HTTP://O.test "
    "https://o.test https://o.test:443 http://o.test:80 http://127.1 http://127.0.0.1 :8080 http://xn--a"
)
usual_parts = st.sampled_from(USUAL_PARTS.split(" "))


@given(st.lists(usual_parts, max_size=8).map("".join))
def test_a_link_that_need_not_be_parsed_is_joined_like_one_that_is_parsed(href: str) -> None:
    """A tab, which parsers ignore, makes every reference one that has to be parsed."""
    assert join(BASE, href) == join(BASE, f"{href}\t")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://a.test/", "a.test"),
        ("https://a.test/x//y", "a.test"),
        ("http://a.test:8080/", "a.test:8080"),
        ("http://x/", "x"),
    ],
)
def test_the_host_keeps_an_unusual_port(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("url", "nearest"),
    [
        ("http://a.test/x", ["http://a.test/x/", "http://a.test/x/index.html"]),
        ("http://a.test/x/", ["http://a.test/x", "http://a.test/x/index.html"]),
        ("http://a.test/x/index.html", ["http://a.test/x/", "http://a.test/x", "http://a.test/x/index.htm"]),
        ("http://a.test/x.html", ["http://a.test/x.html/"]),
        ("http://a.test/x?q", ["https://a.test/x?q", "http://www.a.test/x?q", "https://www.a.test/x?q"]),
    ],
)
def test_the_closest_near_misses_come_first(url: str, nearest: list[str]) -> None:
    assert list(near_misses(url))[: len(nearest)] == nearest


@pytest.mark.parametrize(
    "url", ["http://a.test/", "http://a.test/x", "https://www.a.test/x/Home.html", "http://a.test/?q"]
)
def test_near_misses_are_distinct_and_never_the_url_itself(url: str) -> None:
    misses = list(near_misses(url))
    assert len({url, *misses}) == len(misses) + 1


def test_a_page_may_be_recorded_with_or_without_its_suffix() -> None:
    assert "http://a.test/x.html" in near_misses("http://a.test/x")
    assert "http://a.test/x" in near_misses("http://a.test/x.html")
    assert "http://a.test/index.html" not in near_misses("http://a.test/index")


def test_near_misses_that_differ_in_more_come_later() -> None:
    url = "http://www.a.test/x/"
    changes = [difference(url, miss).count("and") for miss in near_misses(url)]
    assert changes == sorted(changes) and max(changes) == 2


def test_a_near_miss_leads_back() -> None:
    for url in ("http://a.test/x", "http://a.test/", "http://a.test/x.html", "https://www.a.test/x/index.htm"):
        assert all(url in near_misses(miss) for miss in near_misses(url))


def test_the_difference_of_a_near_miss_is_told_in_words() -> None:
    assert difference("http://a.test/x", "https://www.a.test/x/") == "ending and scheme and www"


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("http://a.test/x?utm_source=news&id=3&UTM_Medium=mail", "http://a.test/x?id=3"),
        ("http://a.test/x?gclid=1&fbclid=2&mc_cid=3", "http://a.test/x"),
        ("http://a.test/x?", "http://a.test/x"),
        ("http://a.test/x?b=2&a=1&a=0&c", "http://a.test/x?b=2&a=1&a=0&c"),
        ("http://a.test/x?PHPSESSID=abc&p=1", "http://a.test/x?p=1"),
        ("http://a.test/x;jsessionid=0A1B.node1?p=1", "http://a.test/x?p=1"),
        ("http://a.test/x%3BJSESSIONID=0A1B/y", "http://a.test/x/y"),
        ("http://a.test/(S(lit3py55t21z5v55vlm25s55))/x", "http://a.test/x"),
        ("http://a.test/b/..;jsessionid=1/c", "http://a.test/c"),
        ("http://a.test/x?sid=27f5e21379de1b15b2717b1b20b4acdc", "http://a.test/x"),
        ("http://a.test/x?sid=42", "http://a.test/x?sid=42"),
        ("http://a.test/x?s=words+searched+for", "http://a.test/x?s=words+searched+for"),
        ("http://a.test/x(y);v=1?utmost=1", "http://a.test/x(y);v=1?utmost=1"),
        ("http://a.test/pub/?C=N;O=D", "http://a.test/pub/"),
        ("http://a.test/pub/?C=M&O=A", "http://a.test/pub/"),
        ("http://a.test/pub?C=N;O=D", "http://a.test/pub?C=N;O=D"),
        ("http://a.test/pub/?C=N;O=D;P=*.txt", "http://a.test/pub/?C=N;O=D;P=*.txt"),
        ("http://a.test/shop/?C=3&O=D", "http://a.test/shop/?C=3&O=D"),
    ],
)
def test_what_makes_no_difference_to_the_page_is_left_out(url: str, same: str) -> None:
    assert canonical(url) == same


def test_a_host_in_another_script_has_one_spelling() -> None:
    assert normalise("http://Пример.рф/путь") == "http://xn--e1afmkfd.xn--p1ai/%D0%BF%D1%83%D1%82%D1%8C"


URL_PARTS = "a / . .. ; %3B jsessionid= PHPSESSID= (S( lit3py55t21z5v55vlm25s55 )) ? C=N;O=D & utm_ sid= = ä # : @ %"
url_parts = st.sampled_from(URL_PARTS.split(" "))


@given(st.lists(url_parts, max_size=14).map(lambda parts: "http://a.test/" + "".join(parts)) | st.text())
def test_the_canonical_form_is_normalised_keeps_the_host_and_is_its_own(url: str) -> None:
    known = normalise(url)
    if known is not None:
        found = canonical(known)
        assert normalise(found) == found
        assert host_of(found) == host_of(known)
        assert canonical(found) == found
