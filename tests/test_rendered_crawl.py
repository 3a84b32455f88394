"""A crawl that renders pages which need scripts: what it finds in them, what it refuses them, what it keeps."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from spoor import settings as config
from spoor.cli.main import main
from spoor.errors import MissingExtra
from spoor.events import Event, Visited
from spoor.live.from_settings import AGENT, host_rules
from spoor.records import Rendering
from spoor.render.browser import find_browser
from spoor.report.contents import CrawledPage, links, pages
from spoor.report.figures import figures
from spoor.report.politeness import PolitenessRules, conduct
from spoor.store.crawl_folder import CrawlFolder
from tests.rendered_web import STORY, KilledRenderers, crawled, kinds, settings_for
from tests.scripted_site import Listener, proxied

try:
    find_browser()
except MissingExtra as missing:
    pytest.skip(str(missing), allow_module_level=True)


@dataclass
class Crawled:
    folder: CrawlFolder
    events: list[Event]
    requests: list[str]
    heard: list[str]

    def rendering(self, name: str) -> Rendering:
        (found,) = (
            event.rendering
            for event in self.events
            if isinstance(event, Visited) and event.visit.url == f"http://{name}.test/"
        )
        assert found is not None
        return found

    @cached_property
    def pages(self) -> dict[str, CrawledPage]:
        return {page.url: page for page in pages(self.folder)}

    def page(self, name: str) -> CrawledPage:
        return self.pages[f"http://{name}.test/"]

    def links(self, name: str) -> set[str]:
        """That were found on a page, without the scheme."""
        found = (link.url for link in links(self.folder) if link.found_on == f"http://{name}.test/")
        return {url.removeprefix("http://") for url in found}


@pytest.fixture(scope="module", params=[0, 1], ids=["alone", "with a worker"])
def done(request: pytest.FixtureRequest) -> Iterator[Crawled]:
    """One crawl of a page of each kind, in one browser with one tab."""

    async def run(path: Path) -> Crawled:
        async with Listener() as listener:
            files = kinds(f"127.0.0.1:{listener.port}")
            site = KilledRenderers(files)
            seeds = [name for name in files if name.endswith("/")]
            async with proxied(site) as proxy:
                events = await crawled(path, settings_for(proxy, seeds, request.param, tabs=1, render_seconds=12))
            return Crawled(CrawlFolder(path), events, site.requests, listener.heard)

    with tempfile.TemporaryDirectory(prefix="test-", dir="/tmp") as made:
        yield asyncio.run(run(Path(made) / "crawl"))


@pytest.mark.parametrize(
    ("name", "text", "linked"),
    [
        ("filled", STORY.strip(), {"filled.test/one"}),
        ("list", "item 59", {"list.test/item0", "list.test/item59"}),
        ("push", "B", {"push.test/view/a", "push.test/view/b", "push.test/button", "push.test/bold"}),
        ("never", STORY.strip(), set()),
        ("timers", "counted", set()),
        ("moved", "moving", {"filled.test/new"}),
        ("private", "private was refused", set()),
        ("worker", "does without", set()),
        ("alert", "after all", set()),
        ("huge", "h5999", {"huge.test/h0", "huge.test/h2999"}),
        ("robots", "not allowed to", set()),
        ("crash", "soon gone", set()),
    ],
)
def test_each_kind_gives_its_text_and_its_links(done: Crawled, name: str, text: str, linked: set[str]) -> None:
    assert text in done.page(name).text
    assert linked <= done.links(name)
    assert done.rendering(name).gained == (len(text) > 100 or bool(linked) or name == "never")


def test_how_rendering_ended_is_known(done: Crawled) -> None:
    ended = {name: done.rendering(name).how for name in ("filled", "never", "crash")}
    assert ended == {"filled": "settled", "never": "timed out", "crash": "crashed"}


def test_data_in_a_page_needs_no_browser(done: Crawled) -> None:
    assert STORY.strip() in done.page("json").text
    assert done.links("json") == {"json.test/found"}
    assert "json.test/app.js" not in done.requests


def test_nothing_is_fetched_twice_and_nothing_refused_is_asked_for(done: Crawled) -> None:
    assert len(done.requests) == len(set(done.requests))
    assert "strict.test/robots.txt" in done.requests and "strict.test/hidden.json" not in done.requests
    assert "worker.test/sw.js" not in done.requests
    assert done.heard == []


def test_every_request_of_scripts_keeps_the_promises_to_its_host(done: Crawled) -> None:
    rules = host_rules(config.loads(done.folder.settings() or ""))
    said = conduct(done.folder, PolitenessRules(rules, AGENT))
    assert said.breaches == ()
    assert said.visits == len(done.requests) + 1, "the robots.txt of the refused address was never sent for"
    assert "list.test/list?from=0" in done.requests


def test_the_archive_has_what_scripts_were_given_and_what_they_made(done: Crawled) -> None:
    answers, trees = dict[str, tuple[str, str]](), dict[str, tuple[str, bytes]]()
    for file in sorted(done.folder.warcs.glob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                said = record.rec_headers.get_header
                if record.rec_type == "response":
                    answers[said("WARC-Target-URI")] = said("WARC-Record-ID"), said("WARC-Resource-Type") or ""
                elif record.rec_type == "conversion":
                    trees[said("WARC-Target-URI")] = said("WARC-Refers-To"), record.content_stream().read()
    page, kind = answers["http://filled.test/"]
    assert kind == ""
    assert answers["http://filled.test/app.js"][1] == "script"
    assert answers["http://filled.test/data.json"][1] in {"fetch", "xhr"}
    refers, tree = trees["http://filled.test/"]
    assert refers == page and STORY.strip().encode() in tree
    assert "http://crash.test/" not in trees
    assert main(["check", str(done.folder.path)]) == 0


def test_a_page_without_a_tree_still_needs_scripts_and_all_is_reported(
    done: Crawled, capsys: pytest.CaptureFixture[str]
) -> None:
    totals = figures(done.folder).totals
    assert (totals.needs_scripts, totals.rendered) == (1, 13)
    assert totals.gained == 7 and totals.render_seconds > 0.0
    assert main(["report", str(done.folder.path)]) == 0
    assert "1 pages need scripts, 13 rendered (7 gained)" in capsys.readouterr().out
    assert "pages rendered in a browser, 7 gained" in done.folder.report.read_text()
    for name, line in (("filled", "gained text or links"), ("timers", "gained nothing"), ("crash", "crashed after")):
        assert main(["why", str(done.folder.path), f"http://{name}.test/"]) == 0
        assert line in capsys.readouterr().out


def test_pages_that_scripts_make_of_one_shell_are_duplicates_only_by_their_texts(done: Crawled) -> None:
    assert done.page("huge").duplicate_of == ""
    assert done.page("filled").duplicate_of == ""
    assert done.pages["http://filled.test/more/"].duplicate_of == "http://filled.test/"


def test_exports_have_the_text_that_scripts_made(done: Crawled, tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path):
        assert main(["export", str(done.folder.path), "--out", "pages.txt", "--format", "text", "--workers", "1"]) == 0
        assert Path("pages.txt").read_text().count(STORY.split(".")[0]) >= 2
