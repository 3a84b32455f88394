"""The crawler of each paper as one crawl.toml describes it: run live, killed, resumed; its target on a recorded web;
verdicts and link scores on a served one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from spoor import registry
from spoor import settings as config
from spoor.cli.main import main
from spoor.crawl import Crawl
from spoor.events import Event, Visited
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.simulated import simulate
from spoor.lab.web import Web
from spoor.lab.worlds import RecordedWorld
from spoor.live.downloader import LiveDownloader, PageFetcher
from spoor.live.driver import LiveDriver
from spoor.live.from_settings import fetcher_for
from spoor.live.page_reader import Reader
from spoor.pricing import Limits
from spoor.progress import unseen
from spoor.records import Page, Verdict, Visit
from spoor.settings import ParseSettings
from spoor.store.incidents import SavedTroubles
from spoor.strategy import Strategy
from tests.forked import spoor
from tests.served import serving
from tests.test_generate import coding

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "papers"


@dataclass(frozen=True)
class Paper:
    """A web on which the crawler has something to find, the label of what it should find, and how its files are made
    from a web like it. `others` are further strategies of the paper."""

    name: str
    web: Request
    label: str
    prepare: Callable[[Path, Path], None] = lambda web, folder: None
    others: tuple[str, ...] = ()
    visits: int = 120


def documents(web: Path, folder: Path) -> None:
    """Texts of the field and others."""
    opened = Web.open(web)
    world = RecordedWorld(opened, opened.labelled("relevant"), with_content=True)
    for name, mask in (("field", world.relevant), ("others", ~world.relevant)):
        (folder / name).mkdir()
        for number in mask.nonzero()[0][:60].tolist():
            page, _ = world.fetch(Visit(opened.urls[number], "", 0, 0.0))
            assert isinstance(page, Page)
            (folder / name / f"{number}.txt").write_text(f"{page.title}\n{page.text}")


def paths(web: Path, folder: Path) -> None:
    words = ["--target", "relevant", "--out", str(folder / "paths.spoor"), "--workers", "1"]
    assert main(["train", "context", str(web), *words]) == 0


def rules(web: Path, folder: Path) -> None:
    assert main(["train", "rules", str(web), "--target", "class=CSE", "--out", str(folder / "rules.spoor")]) == 0


NODE_RATIO = ParseSettings(main_text="node-ratio")
"""As examples/papers/correlation.toml says."""
PAPERS = [
    Paper("language-specific", Request("thai", 500, 3, text=True), "relevant"),
    Paper("mongolian", Request("mongolian", 800, 3, text=True), "relevant", others=("g-crawl:language=mn-Mong",)),
    Paper("correlation", Request("topical", 800, 3, text=True, parsing=NODE_RATIO), "relevant", documents),
    Paper(
        "ahmm",
        Request("topical", 800, 3, text=True),
        "relevant",
        paths,
        others=("hmm:model=paths.spoor", "composite-bf", "link-bf"),
    ),
    Paper(
        "core",
        Request("courses", 600, 3, text=True),
        "class=CSE",
        rules,
        others=("core:model=rules.spoor:ontology=importance.csv", "core-baseline:model=rules.spoor"),
    ),
]


@pytest.fixture(scope="module", params=PAPERS, ids=lambda paper: paper.name)
def paper(request: pytest.FixtureRequest) -> Paper:
    asked: Paper = request.param
    return asked


@pytest.fixture(scope="module")
def web(paper: Paper, tmp_path_factory: pytest.TempPathFactory) -> Web:
    folder = tmp_path_factory.mktemp(paper.name) / "web"
    generate(paper.web, folder, unseen)
    return Web.open(folder)


@pytest.fixture(scope="module")
def settings(paper: Paper, web: Web) -> Path:
    """The example, with seeds of the web; its files were made from another web of the same kind."""
    folder = web.folder.with_name("mine")
    shutil.copytree(EXAMPLES, folder)
    other = web.folder.with_name("other")
    generate(replace(paper.web, seed=paper.web.seed + 500), other, unseen)
    paper.prepare(other, folder)
    toml = folder / f"{paper.name}.toml"
    seeds = ", ".join(f'"{seed}"' for seed in (web.folder / "seeds.txt").read_text().split())
    toml.write_text(toml.read_text().replace('seeds = ["https://example.org/"]', f"seeds = [{seeds}]"))
    return toml


def crawl(out: Path, proxy: str, visits: int) -> list[str]:
    """The words of a command that begins a crawl, or goes on with it."""
    words = ["--out", str(out), "--proxy", proxy, "--host-delay", "0", "--keep", "all", "--max-pages", str(visits)]
    return ["crawl", *words, "--connections", "2"]


def database_of(out: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{out}/crawl.db?mode=ro", uri=True)


def visited(out: Path) -> dict[str, bool]:
    """Verdicts by URL, as far as they are committed."""
    if not (out / "crawl.db").exists():
        return {}
    with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(database_of(out)) as db:
        return {url: bool(relevant) for url, relevant in db.execute("SELECT url, relevant FROM pages")}
    return {}


def killed_on_the_way(words: list[str], out: Path) -> None:
    """In a process of its own, with another that reads its pages."""
    said = out.with_name("said")
    process = spoor(*words, "--workers", "1", stderr=said)
    while len(visited(out)) < 20 and process.poll() is None:
        time.sleep(0.02)
    process.kill()
    assert process.wait() == -9, said.read_text()


def test_the_crawler_of_a_paper_is_killed_resumed_and_finds_relevant_pages(
    paper: Paper, web: Web, settings: Path, tmp_path: Path
) -> None:
    out = tmp_path / "crawl"
    with serving(web) as proxy:
        words = crawl(out, proxy, paper.visits)
        killed_on_the_way([*words, str(settings)], out)
        before = visited(out)
        assert main([*words, "--workers", "0"]) == 0
    after = visited(out)
    assert before.items() <= after.items(), "what was committed stays"
    labelled = web.labelled(paper.label)
    truth = {web.urls[page]: bool(labelled[page]) for page in range(web.pages)}
    hits = sum(truth[url] for url in after)
    assert hits / len(after) > 1.3 * labelled.mean(), "more of what the paper looks for than there is in the web"
    assert after.items() <= judged(settings, web).items(), "live, it says of a page what it says in a simulation"
    assert main(["check", str(out)]) == 0
    words = ["--out", str(tmp_path / "recorded"), "--main-text", config.load(settings).parse.main_text]
    assert main(["web", "build", str(out), *words, "--workers", "1"]) == 0
    recorded = judged(settings, Web.open(tmp_path / "recorded"))
    assert after.items() <= recorded.items(), "the archive may have one more, not committed when it was killed"


def judged(settings: Path, web: Web) -> dict[str, bool]:
    """What the target of the file says of the pages of a web."""
    world = RecordedWorld(web, web.answers(), with_content=True)
    fetched = [world.fetch(Visit(url, "", 0, 0.0))[0] for url in map(web.urls.__getitem__, range(web.pages))]
    pages = [page for page in fetched if isinstance(page, Page)]
    verdicts = registry.judge(str(settings)).judge(pages)
    return {page.url: verdict.relevant for page, verdict in zip(pages, verdicts, strict=True)}


@dataclass(frozen=True)
class Crawled:
    """The visits in order, each with the verdict on its page; and every link, waiting or not, with its scores."""

    visits: list[tuple[Visit, Verdict]]
    links: dict[str, tuple[object, ...]]

    @staticmethod
    def of(events: list[Event], store: MemoryStore, web: Web) -> Crawled:
        visits = [(replace(e.visit, at=0.0), e.verdict) for e in events if isinstance(e, Visited)]
        entries = filter(None, store.find([web.urls[number] for number in range(web.pages)]))
        return Crawled(visits, {e.url: (e.state, e.key, e.evidence, e.trail, e.depth, e.because) for e in entries})


def strategies(paper: Paper, settings: Path) -> list[Strategy]:
    """That of the example, and the others with its judge; each without traps, which a simulation does not have."""
    read = registry.checked(config.read(settings), settings.parent)
    named = [read.crawl.strategy, *(registry.STRATEGIES.with_files(name, settings.parent) for name in paper.others)]
    return [registry.strategy(name, registry.judge_of(read.target)) for name in named]


def new_crawl(strategy: Strategy, store: MemoryStore, web: Web, visits: int) -> Crawl:
    crawl = Crawl(strategy, Frontier(store, HostRules(delay=0.0, ask_first=True)), Limits(visits))
    crawl.begin((web.folder / "seeds.txt").read_text().split())
    return crawl


def simulated(strategy: Strategy, web: Web, visits: int) -> Crawled:
    store, world = MemoryStore(), RecordedWorld(web, web.answers(), with_content=True)
    return Crawled.of(list(simulate(new_crawl(strategy, store, web, visits), world)), store, web)


async def live(strategy: Strategy, web: Web, visits: int, parsing: ParseSettings, proxy: str) -> Crawled:
    """Over HTTP, with one connection."""
    store, crawling = MemoryStore(), config.Crawling(proxy=proxy)
    async with fetcher_for(config.Config(crawl=crawling)) as fetcher:
        downloader = LiveDownloader(PageFetcher(fetcher, Reader.of(strategy, parsing=parsing)))
        driver = LiveDriver(new_crawl(strategy, store, web, visits), downloader, 1, time.monotonic, SavedTroubles(None))
        events = [event async for batch in driver.run() for event in batch]
    return Crawled.of(events, store, web)


def test_on_a_served_web_the_verdicts_and_the_scores_of_all_links_are_those_of_the_simulation(
    paper: Paper, web: Web, settings: Path
) -> None:
    parsing = config.load(settings).parse
    with serving(web) as proxy:
        for strategy, same in zip(strategies(paper, settings), strategies(paper, settings), strict=True):
            over_http = asyncio.run(live(strategy, web, paper.visits, parsing, proxy))
            in_memory = simulated(same, web, paper.visits)
            assert over_http.visits == in_memory.visits
            assert over_http.links == in_memory.links
            assert len(over_http.visits) >= 40 and len({verdict.relevant for _, verdict in over_http.visits}) == 2


@pytest.mark.parametrize("paper", [paper for paper in PAPERS if paper.name == "mongolian"], indirect=True)
def test_the_mongolian_pages_among_them_are_in_three_encodings(paper: Paper, web: Web, settings: Path) -> None:
    over = simulated(strategies(paper, settings)[0], web, paper.visits).visits
    numbers = [web.urls.find(visit.url) for visit, verdict in over if verdict.relevant]
    titles = [web.texts[number][0] for number in numbers if number is not None]
    assert {coding(title) for title in titles} == {"unicode", "menksoft", "saiyin"}


@pytest.mark.parametrize("paper", [paper for paper in PAPERS if paper.name == "mongolian"], indirect=True)
def test_every_mongolian_page_is_exported_with_its_text_in_the_glyphs_of_its_font(
    paper: Paper, web: Web, settings: Path, tmp_path: Path
) -> None:
    out, exported = tmp_path / "crawl", tmp_path / "pages.jsonl"
    with serving(web) as proxy:
        assert main([*crawl(out, proxy, 60), str(settings), "--workers", "0"]) == 0
    assert main(["export", str(out), "--format", "jsonl", "--out", str(exported)]) == 0
    texts = [json.loads(line)["text"] for line in exported.read_text().splitlines()]
    assert len(texts) == sum(visited(out).values()) > 10
    assert all(len(text) >= 100 for text in texts)
    assert {coding(text) for text in texts} == {"unicode", "menksoft", "saiyin"}
