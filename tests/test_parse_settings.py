"""[parse]: how main texts are found, and how much around a link is its context; live, in workers, after a stop."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from spoor import settings as config
from spoor.cli.main import main
from spoor.errors import MissingExtra
from spoor.lab.web import Web
from spoor.parse.html import ParseOptions, read_page
from spoor.parse.main_text import extractor_named
from tests.html_site import crawled, events_of, judged, site
from tests.warcs import response

STORY = "".join(f"<p>A long story of the village and of what its people did in the year {k}.</p>" for k in range(6))
BESIDE = f"<article>{STORY}<div id='sidebar'><p>{'horse saddle ' * 9}</p></div></article>"
"""What `quick` takes for something beside the text, and the two ratios for a part of it."""
PAGES = {"/": "<p>Some <a href='/one'>one</a> and <a href='/two'>two</a></p>", "/one": BESIDE, "/two": BESIDE}
KEYWORDS = '[target]\nkeywords = ["horse"]\n[parse]\nmain_text = "{}"\n[crawl]\nworkers = {}'


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(("name", "relevant"), [("quick", False), ("node-ratio", True)])
def test_a_live_crawl_judges_by_the_main_text_that_was_asked_for(
    name: str, relevant: bool, workers: int, tmp_path: Path
) -> None:
    verdicts = asyncio.run(crawled(PAGES, tmp_path / "crawl", KEYWORDS.format(name, workers)))
    assert verdicts == {"/": False, "/one": relevant, "/two": relevant}


def test_a_resumed_crawl_finds_main_texts_as_before(tmp_path: Path) -> None:
    async def stopped_and_resumed() -> dict[str, bool]:
        async with site(PAGES) as address:
            asked = f'seeds = ["{address}/"]\nallow_private = true\nmax_pages = {{}}\n[politeness]\nrest = 0'
            text = KEYWORDS.format("node-ratio", 0) + "\n" + asked
            await events_of(tmp_path / "crawl", config.loads(text.format(2)))
            resumed = config.load(tmp_path / "crawl" / "crawl.toml")
            assert resumed.parse.main_text == "node-ratio"
            further = replace(resumed, crawl=replace(resumed.crawl, max_pages=9))
            return judged(await events_of(tmp_path / "crawl", further))

    assert asyncio.run(stopped_and_resumed()) == {"/two": True}


FAR = "<p>machine learning " + "and other words " * 5 + "<a href='/far'>here</a></p>"
CORE = """[target]
ontology = "topic.csv"
[parse]
context = {}
[crawl]
strategy = "core:min_ont=0.5:min_rules=9"
"""


@pytest.mark.parametrize(("context", "paths"), [(20, ["/"]), (100, ["/", "/far"]), (0, ["/"])])
def test_words_further_from_a_link_than_its_context_say_nothing_of_it(
    context: int, paths: list[str], tmp_path: Path
) -> None:
    (tmp_path / "topic.csv").write_text("term,importance\nmachine learning,1\n")
    pages = {"/": FAR, "/far": "<p>nothing</p>"}
    assert list(asyncio.run(crawled(pages, tmp_path / "crawl", CORE.format(context)))) == paths


@pytest.mark.parametrize(("window", "left", "right"), [(0, "", ""), (9, "before it", "after it"), (6, "it", "after")])
def test_a_context_has_as_many_characters_as_were_asked_for(window: int, left: str, right: str) -> None:
    html = b"<p>before it <a href=x>anchor</a> after it</p>"
    (link,) = read_page("http://a.test/", html, "text/html", parse_options=ParseOptions(window=window)).links
    assert (link.left, link.anchor, link.right) == (left, "anchor", right)


@pytest.mark.parametrize(("name", "held"), [("quick", False), ("node-ratio", True)])
def test_a_web_is_built_with_the_main_texts_and_contexts_that_were_asked_for(
    name: str, held: bool, tmp_path: Path
) -> None:
    body = f"{BESIDE}<p>before it <a href='/two'>two</a> after it</p>"
    (tmp_path / "a.warc").write_bytes(response("http://a.test/", body))
    asked = ["--main-text", name, "--context", "6", "--workers", "1"]
    assert main(["web", "build", str(tmp_path / "a.warc"), "--out", str(tmp_path / "web"), *asked]) == 0
    web = Web.open(tmp_path / "web")
    _, _, _, main_text, _ = web.texts[0]
    ((_, left, right, *_),) = web.contexts[0]
    assert ("saddle" in main_text, left, right) == (held, "it", "after")
    assert json.loads((tmp_path / "web" / "web.json").read_text())["parsed"] == {
        "main_text": name,
        "context": 6,
        "documents": True,
    }


def test_a_web_of_a_crawl_is_read_as_the_crawl_was(tmp_path: Path) -> None:
    asyncio.run(crawled(PAGES, tmp_path / "crawl", KEYWORDS.format("node-ratio", 0)))
    assert main(["web", "build", str(tmp_path / "crawl"), "--out", str(tmp_path / "web"), "--workers", "1"]) == 0
    web = Web.open(tmp_path / "web")
    assert web.about["parsed"] == {"main_text": "node-ratio", "context": 100, "documents": True}
    assert any("saddle" in main_text for _, _, _, main_text, _ in map(web.texts.__getitem__, range(web.pages)))


def test_a_context_that_is_no_number_of_characters_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["web", "build", str(tmp_path), "--out", str(tmp_path / "web"), "--context", "-1"]) == 2
    assert "--context -1: give a number of characters from 0 to 10,000" in capsys.readouterr().err


def test_an_extractor_whose_library_is_missing_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    with pytest.raises(MissingExtra, match="main texts need trafilatura"):
        extractor_named("best")
