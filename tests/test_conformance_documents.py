"""Charsets, MIME types and markup against the suites of others."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

from spoor.parse.charset import canonical, decode, header_charset
from spoor.parse.html import read_page
from tests.suites import cases, members, needs_suite


@needs_suite("charset")
def test_the_charset_of_a_page_of_html5lib() -> None:
    """Where no charset is found in ASCII, browsers say Windows-1252, which is the same text."""
    lenient = Counter[str]()
    count = 0
    for data, expected in documents():
        count += 1
        found = decode(data, "").charset
        if found != canonical(expected) and not (found == "ascii" and expected.lower() == "windows-1252"):
            lenient[
                "declared" if found != "ascii" and expected.lower() == "windows-1252" else "far away or in scripts"
            ] += 1
    assert (count, lenient) == (83, {"declared": 15, "far away or in scripts": 4})


def documents() -> Iterator[tuple[bytes, str]]:
    for name, content in members("charset").items():
        if name.endswith(".dat"):
            for block in re.split(rb"(?:\A|\n)#data\n", content)[1:]:
                data, _, encoding = block.partition(b"\n#encoding\n")
                yield data, encoding.strip().split(b"\n")[0].decode()


@needs_suite("mime")
def test_the_charset_of_a_content_type_of_web_platform_tests() -> None:
    """We take more labels than the standard: a charset is told even by a malformed header."""
    listed = [case for case in cases("mime", "mimesniff/mime-types/resources/mime-types.json") if "encoding" in case]
    named = [case for case in listed if case["encoding"]]
    same = [header_charset(case["input"]) == canonical(case["encoding"]) for case in named]
    assert (len(named), sum(same)) == (24, 21)


@needs_suite("html")
def test_any_markup_of_web_platform_tests_is_read() -> None:
    count = 0
    for name, content in members("html").items():
        if name.endswith(".dat"):
            for block in content.split(b"#data\n")[1:]:
                page = read_page("http://a.test/", block.partition(b"\n#errors")[0], "text/html; charset=utf-8")
                json.dumps([page.text, [link.url for link in page.links]]).encode()
                count += 1
    assert count == 1936
