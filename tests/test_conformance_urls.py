"""URLs against the suites of others: web platform tests, the public suffix list, the table of crawler-commons."""

from __future__ import annotations

from collections import Counter

from spoor.urls import host_of, join, normalise, registrable_domain
from tests.suites import cases, members, needs_suite

URL_DATA = "url/resources/urltestdata.json"
ESCAPES = "escapes have one spelling: in capitals, and only of characters that need them"
ASCII_LABEL = "can_ada refuses labels that begin with xn-- and encode nothing"
LATER_UNICODE = "can_ada has letters up to Unicode 15.0"
LAST_DOT = "a host has no dot at its end, and only dots are no host"
NOT_A_HOST = "a test of the algorithm alone: no URL has this host"


def url_of(case: dict[str, str]) -> str | None:
    """What we expect: no fragment, no user; None for other schemes."""
    if case.get("failure") or case["protocol"] not in ("http:", "https:"):
        return None
    return f"{case['protocol']}//{case['host']}{case['pathname']}{case['search']}"


@needs_suite("url")
def test_urltestdata_of_web_platform_tests() -> None:
    different: Counter[str] = Counter()
    count = 0
    for case in cases("url", URL_DATA):
        base = normalise(case["base"]) if case.get("base") else None
        if case.get("base") and base is None:
            continue
        count += 1
        found = join(base, case["input"]) if base else normalise(case["input"])
        expected = url_of(case)
        if (found and found.removesuffix("?")) != (expected and expected.removesuffix("?")):
            different[why_url(expected, found)] += 1
    assert count - different.total() > 740
    assert different == {ESCAPES: 8, ASCII_LABEL: 7}


def why_url(expected: str | None, found: str | None) -> str:
    if found is None:
        return ASCII_LABEL if expected and "xn--" in expected else "?"
    return ESCAPES if expected and "%" in expected and normalise(expected) == found else "?"


@needs_suite("url")
def test_idna_of_web_platform_tests() -> None:
    different: Counter[str] = Counter()
    count = 0
    for file in ("toascii", "IdnaTestV2"):
        for case in cases("url", f"url/resources/{file}.json"):
            count += 1
            written, expected = case["input"], case["output"]
            url = normalise(f"http://{written}/x") if written else None
            found = url and host_of(url)
            if found != expected:
                different[why_host(written, expected, found)] += 1
    assert count == 2758
    assert different == {ASCII_LABEL: 766, LATER_UNICODE: 81, LAST_DOT: 82, NOT_A_HOST: 1}


def why_host(written: str, expected: str | None, found: str | None) -> str:
    if expected == "":
        return NOT_A_HOST
    if found is not None and expected is not None and expected.strip(".") == found.strip("."):
        return LAST_DOT
    if written.isascii() and "xn--" in written.lower():
        return ASCII_LABEL
    return LATER_UNICODE


@needs_suite("public-suffix")
def test_registrable_domains_of_the_public_suffix_list() -> None:
    """null in the suite: there is none; such a host is its own domain here."""
    different = []
    count = 0
    for line in members("public-suffix")["tests/tests.txt"].decode().splitlines():
        if not line or line.startswith("//"):
            continue
        host, expected = line.split()
        url = normalise(f"http://{host}/")
        if host == "null":
            continue
        count += 1
        found = url and registrable_domain(host_of(url))
        wanted = normalise(f"http://{expected}/") if expected != "null" else url
        if found != (wanted and host_of(wanted)):
            different.append(host)
    assert (count, different) == (77, [".example.com", ".example.example"])  # no URL has such a host


@needs_suite("robots-commons")
def test_the_table_of_crawler_commons() -> None:
    rows = members("robots-commons")["src/test/resources/normalizer/weirdToNormalizedUrls.csv"].decode().splitlines()
    pairs = [line.rpartition(",")[::2] for line in rows if line.strip() and not line.startswith("#")]
    same = sum(normalise(weird.strip()) == plain.strip() for weird, plain in pairs)
    assert (len(pairs), same) == (112, 73)  # it also sorts and drops parameters, and lets more characters stand
