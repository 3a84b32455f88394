"""Keys of indexes are those of package surt, the form of the Internet Archive, on real URLs."""

from __future__ import annotations

import lzma
import warnings
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.store.surt import surt
from spoor.urls import host_of, join
from tests.effort import EFFORT
from tests.shared_data import SHARED, needs_shared

with warnings.catch_warnings():  # Of its own source, where an installer has not compiled it.
    warnings.simplefilter("ignore")
    from surt import surt as surt_of_package


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.com/a/", "com,example)/a"),
        ("http://example.com/", "com,example)/"),
        ("http://example.com/a//b/?", "com,example)/a/b"),
        ("http://example.com/%7Ea?%62=1&a=2", "com,example)/~a?a=2&b=1"),
        (f"http://example.com/x?PHPSESSID={'0a' * 16}&q=1", "com,example)/x?q=1"),
        (f"http://example.com/(S({'a' * 24}))/x.aspx", "com,example)/x.aspx"),
        ("http://example.com./", "com,example)/"),
        ("https://www.example.com:443/A?B", "com,example)/a?b"),
        ("http://[2001:db8::1]:8080/x/", "2001:db8::1:8080)/x"),
        ("http://example.com/ä?ä", "com,example)/%c3%a4?%c3%a4"),
        ("http://example.com/?q=%E4%B7%C2", "com,example)/?q=%e4%b7%c2"),
    ],
)
def test_a_key_is_the_canonical_form(url: str, key: str) -> None:
    assert surt(url) == key == surt_of_package(url)


@needs_shared
@pytest.mark.parametrize("file", ["good-urls.txt", "trap-urls.txt"])
def test_keys_of_real_urls(file: str) -> None:
    for url in (SHARED / "data" / file).read_text("utf8").splitlines():
        assert surt(url) == surt_of_package(url), url


@needs_shared
def test_keys_of_recorded_webs() -> None:
    """From the beginning of the WARC file of each web; 10,000 in all in `make thorough`."""
    count = 0
    for web in sorted((SHARED / "webs").glob("*/web.warc.xz")):
        with lzma.open(web) as lines:
            named = (line for line in lines if line[:16].lower() == b"warc-target-uri:")
            for line in islice(named, 0, 1_000 * min(EFFORT, 4), 2):
                url = line[16:].decode("utf-8", "replace").strip().strip("<>")
                assert surt(url) == surt_of_package(url), url
                count += 1
    assert count > 0


PIECES = st.sampled_from(
    [
        "a",
        "B",
        "/",
        "//",
        ".",
        "..",
        "%2E",
        "%25",
        "%252f",
        "?",
        "&",
        "=",
        "%",
        "%7E",
        "~",
        "+",
        ";",
        " ",
        "ä",
        "%E4",
        ":",
        "@",
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_keys_of_any_normal_url(rest: str) -> None:
    url = join("http://www.a.test/", rest)
    if url is not None and host_of(url).strip("."):  # Nothing can be fetched from a host of dots.
        assert surt(url) == surt_of_package(url)
