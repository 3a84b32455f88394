"""Pages made to take all time or all memory: each is given up with the reason, and the next is read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from spoor.judging.language_judges import ScriptShare
from spoor.live.page_reader import Reader
from spoor.live.reading_processes import ReadingLimits, reading
from spoor.origins import pack
from spoor.parse.html import ParseOptions, read_page
from spoor.parse.main_text import QUICK
from spoor.records import Failure, Judged, Outcome, Response, Visit

READER = Reader(
    ScriptShare("thai"), None, texts=False, parse_options=ParseOptions(QUICK, most_links=5_000), labels=False
)
URL = "http://a.test/"


def outcomes(pages: Sequence[str], limits: ReadingLimits) -> list[Outcome]:
    async def run() -> list[Outcome]:
        async with reading(1, pack(READER), limits) as processes:
            outcomes = [processes.read(Visit(URL, "a.test", 0, 0.0), response(page)) for page in pages]
            return await asyncio.gather(*outcomes)

    return asyncio.run(run())


def response(html: str) -> Response:
    return Response(URL, 200, {"content-type": "text/html"}, html.encode(), b"", b"", b"", "", 0.0, 0.0)


def test_formatting_elements_that_every_block_opens_again_need_too_much_memory() -> None:
    poison = "<p>" + "".join(f"<b id={n}>" for n in range(9_000)) + "<p>x" * 20_000
    first, poisoned, last = outcomes(["<p>x", poison, "<p>x"], ReadingLimits(seconds=60.0, memory=300_000_000))
    assert poisoned == Failure("reading needed over 300 MB")
    assert isinstance(first, Judged) and isinstance(last, Judged)


def test_what_parsers_take_the_square_of_takes_too_long() -> None:
    attributes = "<p " + " ".join(f"a{n}" for n in range(200_000)) + ">"
    crossed = "".join(f"<b id={n}><div>" for n in range(4_900)) + "</b>" * 5_000
    options = "<select>" + "<option>x" * 200_000
    *poisoned, last = outcomes([attributes, crossed, options, "<p>x"], ReadingLimits(seconds=1.5))
    assert poisoned == [Failure("reading took over 1.5 s")] * 3
    assert isinstance(last, Judged)


LARGE = {
    "links in one block": "".join(f"<a href=/{n}>{n}</a> words " for n in range(80_000)),
    "links to one page": "".join(f"<a href=/x>{n}</a> words " for n in range(80_000)),
    "blanks before a refresh": f"<meta http-equiv=refresh content='{' ' * 1_000_000}'>",
    "languages": "".join(f"<link rel=alternate hreflang=x{n} href=/{n}>" for n in range(80_000)),
    "a long base": f"<base href='/{'x/' * 3_900}'>" + "".join(f"<a href={n}>x</a>" for n in range(10_000)),
    "elements inside one another": "<em><h1><strong>x " * 3_000,
    "entities": "&CounterClockwiseContourIntegral;" * 100_000,
    "comments that do not end": "<!--" * 500_000,
}


def test_a_page_that_is_only_large_is_read_within_the_limits() -> None:
    """Some of these took the square of their size once: 31 seconds for the first."""
    for name, outcome in zip(LARGE, outcomes(list(LARGE.values()), ReadingLimits(seconds=15.0)), strict=True):
        assert isinstance(outcome, Judged), name
        assert len(outcome.page.links) <= 5_000


def test_a_header_of_blanks_is_read_once() -> None:
    """Some 60,000 of them took half a minute."""
    assert read_page(URL, b"<p>x", f"text/html; charset={' ' * 60_000};").text == "x"
    head = b"<meta " * 300 + b"charset=" + b" " * 2_200
    assert read_page(URL, head + b"<p>x", "text/html").text == "x"


def test_of_a_long_text_deep_inside_elements_the_main_text_is_not_looked_for() -> None:
    """End tags of elements that are not there say nothing about the depth."""
    words = "some words and more " * 2_000
    honest = read_page(
        URL, f"{'<div>' * 50}<p>{words}</p>{'</div>' * 50}".encode(), "text/html", parse_options=READER.parse_options
    )
    assert honest.main_text
    for filler in ("", "</nav>"):
        nested = f"<div>{filler}" * 1_400 + f"<p>{words}"
        page = read_page(URL, nested.encode(), "text/html", parse_options=READER.parse_options)
        assert not page.main_text and page.text.startswith("some words")
