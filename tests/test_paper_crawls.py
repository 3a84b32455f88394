"""The crawler of each paper as one crawl.toml describes it: run live, killed, resumed; and its target on a recorded
web."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from spoor import registry
from spoor import settings as config
from spoor.cli.main import main
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.web import Web
from spoor.lab.worlds import RecordedWorld
from spoor.progress import unseen
from spoor.records import Page, Visit
from tests.forked import spoor
from tests.served import serving

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "papers"


@dataclass(frozen=True)
class Paper:
    """A web on which the crawler has something to find, the label of what it should find, and how its files are made
    from a web like it."""

    name: str
    web: Request
    label: str
    prepare: Callable[[Path, Path], None] = lambda web, folder: None
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


PAPERS = [
    Paper("language-specific", Request("thai", 500, 3, text=True), "relevant"),
    Paper("mongolian", Request("mongolian", 800, 3, text=True), "relevant"),
    Paper("correlation", Request("topical", 800, 3, text=True), "relevant", documents),
    Paper("ahmm", Request("topical", 800, 3, text=True), "relevant", paths),
    Paper("core", Request("courses", 600, 3, text=True), "class=CSE", rules),
]


@pytest.fixture(params=PAPERS, ids=lambda paper: paper.name)
def paper(request: pytest.FixtureRequest) -> Paper:
    asked: Paper = request.param
    return asked


@pytest.fixture
def web(paper: Paper, tmp_path: Path) -> Web:
    generate(paper.web, tmp_path / "web", unseen)
    return Web.open(tmp_path / "web")


@pytest.fixture
def settings(paper: Paper, web: Web, tmp_path: Path) -> Path:
    """The example, with seeds of the web; its files were made from another web of the same kind."""
    folder = tmp_path / "mine"
    shutil.copytree(EXAMPLES, folder)
    other = tmp_path / "other"
    generate(Request(paper.web.name, paper.web.pages, paper.web.seed + 500, text=True), other, unseen)
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
    right = sum(truth[url] == relevant for url, relevant in after.items())
    assert right / len(after) > 0.8, "the judge knows its pages"
    assert main(["check", str(out)]) == 0
    judged = recorded(settings, out, tmp_path)
    assert after.items() <= judged.items(), "the archive may have one more, which was not committed when it was killed"


def recorded(settings: Path, out: Path, folder: Path) -> dict[str, bool]:
    """What the target of the file says of the pages of the crawl, recorded as a web."""
    main_text = config.load(settings).parse.main_text
    words = ["--out", str(folder / "recorded"), "--main-text", main_text, "--workers", "1"]
    assert main(["web", "build", str(out), *words]) == 0
    web = Web.open(folder / "recorded")
    world = RecordedWorld(web, web.answers(), with_content=True)
    fetched = [world.fetch(Visit(url, "", 0, 0.0))[0] for url in map(web.urls.__getitem__, range(web.pages))]
    pages = [page for page in fetched if isinstance(page, Page)]
    verdicts = registry.judge(str(settings)).judge(pages)
    return {page.url: verdict.relevant for page, verdict in zip(pages, verdicts, strict=True)}
