"""`import spoor`: crawl, read, simulate, judge and train from a program, which stays as it was."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, assert_type

import pytest

import spoor
from spoor import registry
from spoor.api.options import AnyStrategy, CrawlOptions, settings_of
from spoor.api.pages import AnyPage
from spoor.errors import BadInput, MissingExtra, UsageError
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.web import Web
from spoor.ordering.simple import Arrival, RelevantReferrer
from spoor.settings import SETTINGS, Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import CrawlFolder
from tests.served import serving

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    folder = tmp_path_factory.mktemp("webs") / "thai"
    generate(Request("thai", 600, 21, text=True), folder, lambda pages: None)
    return Web.open(folder)


@pytest.fixture(scope="module")
def proxy(web: Web) -> Iterator[str]:
    """The web, served in another thread, so that a test may block its own."""
    with serving(web) as address:
        yield address


@pytest.fixture
def begin(web: Web, proxy: str, tmp_path: Path) -> Callable[..., spoor.RunningCrawl]:
    """The same call on the same folder, with whatever a test changes."""

    def crawl(**changed: Any) -> spoor.RunningCrawl:
        usual = {"language": "th"} if not isinstance(changed.get("strategy"), spoor.Strategy) else {}
        options: dict[str, Any] = {
            "seeds_file": web.folder / "seeds.txt",
            "max_pages": 30,
            "host_delay": 0.0,
            "proxy": proxy,
        }
        return spoor.crawl(tmp_path / "crawl", **{"strategy": "breadth-first", **usual, **options, **changed})

    return crawl


Begin = Callable[..., spoor.RunningCrawl]


def test_a_crawl_is_iterated_over_page_by_page(begin: Begin, tmp_path: Path) -> None:
    crawl = begin()
    pages = list(crawl)
    assert len(pages) == 30 and crawl.ended == "the budget of 30 visits is spent"
    first = pages[0]
    assert first.url.startswith("http://") and first.title and first.text
    assert first.verdict.relevant is first.relevant is True and first.reason == "language: cld2 finds 100% th"
    assert list(spoor.open_crawl(tmp_path / "crawl").pages()) == pages


def test_pages_that_other_processes_read_have_their_texts_too(begin: Begin, tmp_path: Path) -> None:
    pages = list(begin(workers=1, max_pages=5))
    assert [page.text for page in pages] == [page.text for page in spoor.open_crawl(tmp_path / "crawl").pages()]
    assert all(page.text for page in pages)


def test_async_for_gives_the_same_pages(begin: Begin, tmp_path: Path) -> None:
    async def collected() -> list[spoor.CrawledPage]:
        return [page async for page in begin()]

    assert asyncio.run(collected()) == list(spoor.open_crawl(tmp_path / "crawl").pages())


def test_a_plain_loop_works_where_an_event_loop_is_running(begin: Begin) -> None:
    async def in_a_notebook() -> int:
        return len(list(begin()))

    assert asyncio.run(in_a_notebook()) == 30


def test_leaving_the_loop_stops_the_crawl_and_the_same_call_resumes_it(begin: Begin, tmp_path: Path) -> None:
    given = []
    for page in begin(connections=1):
        given.append(page.url)
        if len(given) == 5:
            break
    before = [page.url for page in spoor.open_crawl(tmp_path / "crawl").pages()]
    assert before[:5] == given
    later = [page.url for page in begin(connections=1)]
    assert len(before) + len(later) == 30 and not set(before) & set(later)


def test_a_crawl_that_is_iterated_over_again_is_resumed(begin: Begin, tmp_path: Path) -> None:
    crawl = begin()
    next(iter(crawl))
    assert crawl.ended == "it was stopped"
    assert list(crawl) and crawl.ended == "the budget of 30 visits is spent"
    assert list(crawl) == []
    assert len(list(spoor.open_crawl(tmp_path / "crawl").pages())) == 30


def test_stop_ends_the_iteration(begin: Begin) -> None:
    crawl = begin(max_pages=400)
    for _ in crawl:
        crawl.stop()
    assert crawl.ended == "it was stopped"


def test_a_with_block_ends_the_crawl_before_it_is_left(begin: Begin) -> None:
    with begin(max_pages=400) as crawl:
        pages = iter(crawl)
        next(pages)
    assert crawl.ended == "it was stopped"
    assert crawl_threads() == []


def test_an_async_with_block_waits_for_the_end_of_the_crawl(begin: Begin) -> None:
    async def broken_off() -> str:
        async with begin(max_pages=400) as crawl:
            async for _ in crawl:
                break
        assert crawl_threads() == []
        return crawl.ended

    assert asyncio.run(broken_off()) == "it was stopped"


def crawl_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("spoor")]


def test_a_crawl_waits_when_nobody_takes_its_pages(begin: Begin, tmp_path: Path) -> None:
    with begin(max_pages=400) as crawl:
        next(iter(pages := iter(crawl)))
        count, before = -1, -2
        while count != before:
            time.sleep(0.5)
            before, count = count, len(list(spoor.open_crawl(tmp_path / "crawl").verdicts()))
        assert 64 < count < 200
        del pages


def test_one_folder_has_one_crawl_at_a_time(begin: Begin) -> None:
    with begin(max_pages=400) as crawl:
        pages = iter(crawl)
        next(pages)
        with pytest.raises(BadInput, match="this process is crawling into"):
            next(iter(begin()))


def test_what_cannot_be_run_is_refused_before_a_folder_is_made(begin: Begin, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown strategy 'breadth'"):
        begin(strategy="breadth")
    with pytest.raises(UsageError, match=r"\[crawl\] max_pages = 0"):
        begin(max_pages=0)
    with pytest.raises(TypeError, match="'seed'"):
        begin(seed="http://a.test/")
    assert not (tmp_path / "crawl").exists()


def test_every_setting_is_an_option() -> None:
    # Shards are for the command line: a crawl from Python is one process.
    settings = {setting.name for setting in SETTINGS if setting.section != "shards"}
    assert CrawlOptions.__annotations__.keys() | {"strategy", "judge"} == settings


def test_an_option_is_taken_by_its_earlier_name(tmp_path: Path) -> None:
    folder, target = CrawlFolder(tmp_path), {"language": "th", "seeds": ["http://a.test/"]}
    assert settings_of(folder, None, None, None, {**target, "rest": 2.0}).politeness.host_delay == 2.0


def test_options_override_settings_and_what_is_not_said_is_as_on_the_command_line(proxy: str, tmp_path: Path) -> None:
    asked = Config(Target(language="th"), Crawling(seeds=("http://a.test/",), max_pages=7), politeness=Politeness(3.0))
    crawl = spoor.crawl(tmp_path / "crawl", settings=asked, max_pages=8)
    assert crawl.settings == replace(asked, crawl=replace(asked.crawl, max_pages=8))
    (tmp_path / "crawl.toml").write_text('[target]\nlanguage = "th"\n[crawl]\nseeds = ["http://a.test/"]\n')
    crawl = spoor.crawl(tmp_path / "crawl", settings=tmp_path / "crawl.toml")
    assert crawl.settings == Config(Target(language="th"), Crawling(seeds=("http://a.test/",)))


def test_a_failure_is_told(begin: Begin) -> None:
    crawl = begin(seeds_file="", seeds=["http://h0.thai.test/no-such-page"])
    assert list(crawl) == []
    assert crawl.last_failure == "http://h0.thai.test/no-such-page: HTTP 404"
    assert crawl.ended == "nothing is waiting"


@dataclass(frozen=True)
class OnHost:
    """A judge that somebody wrote."""

    host: str
    reads_content: ClassVar[bool] = False

    def judge(self, pages: Any) -> list[spoor.Verdict]:
        return [spoor.Verdict(float(self.host in page.url), self.host in page.url, page.url) for page in pages]


def test_a_judge_may_be_an_object_and_is_joined_with_the_rest_of_the_target(begin: Begin) -> None:
    pages = list(begin(judge=OnHost("h0.")))
    assert {page.relevant for page in pages} == {True, False}
    reasons = {page.url: page.reason for page in pages if page.relevant}
    assert all(told.startswith("language: cld2 finds ") for told in reasons.values())
    assert all(told.endswith(f"% th; judge: {url}") for url, told in reasons.items())


def relevant_first(judge: spoor.Judge) -> spoor.Strategy:
    return spoor.Strategy(judge, RelevantReferrer())


def test_the_strategy_that_was_simulated_crawls(begin: Begin, web: Web, tmp_path: Path) -> None:
    named = spoor.simulate(web, "soft-focused", budget=100)
    made = spoor.simulate(web, relevant_first, budget=100)
    with_a_judge = relevant_first(registry.judge("language:th"))
    ready = spoor.simulate(web, with_a_judge, budget=100)
    assert made.score.strategy == "relevant_first" and ready.score.strategy == "RelevantReferrer"
    assert made.score.found == named.score.found and made.runs[0].order.tolist() == named.runs[0].order.tolist()
    by_name = [page.url for page in begin(strategy="soft-focused", connections=1)]
    for number, strategy in enumerate([relevant_first, with_a_judge]):
        (tmp_path / "crawl").rename(tmp_path / f"crawl{number}")
        assert [page.url for page in begin(strategy=strategy, connections=1)] == by_name


def test_a_strategy_object_learns_nothing_itself_and_brings_its_own_judge(begin: Begin, web: Web) -> None:
    strategy = relevant_first(OnHost("h0."))
    shown = repr(strategy)
    pages = list(begin(strategy=strategy))
    assert [page.relevant for page in pages] == ["h0." in page.url for page in pages]
    assert repr(strategy) == shown
    with pytest.raises(UsageError, match="has its own judge; leave out language"):
        begin(strategy=strategy, language="th")
    with pytest.raises(UsageError, match="has its own judge"):
        spoor.simulate(web, strategy, judge="language:th")


def test_what_was_given_as_an_object_must_be_given_again(begin: Begin, tmp_path: Path) -> None:
    next(iter(begin(strategy=relevant_first)))
    with pytest.raises(UsageError, match=r"given as a Python object.*spoor.crawl\(…, strategy=…\)"):
        spoor.crawl(tmp_path / "crawl")


def test_what_other_processes_cannot_import_is_run_in_this_one(begin: Begin) -> None:
    class Here(OnHost):
        """Defined where no other process finds it."""

    assert len(list(begin(judge=Here("h0."), workers=1))) == 30


def test_a_name_alone_makes_judge_a_decorator(monkeypatch: pytest.MonkeyPatch) -> None:
    registered: dict[str, object] = {}

    def register(name: str, source: str = "") -> Callable[[Any], Any]:
        return lambda made: registered.setdefault(f"{name} {source}", made)

    for kind in ("judge", "strategy"):
        monkeypatch.setattr(registry, f"register_{kind}", register, raising=False)
    assert spoor.judge("on-host", source="a paper")(OnHost) is OnHost
    assert spoor.strategy("first")(relevant_first) is relevant_first
    assert registered == {"on-host a paper": OnHost, "first ": relevant_first}
    with pytest.raises(UsageError, match="is not the name of a judge"):
        spoor.judge(OnHost("h0."))  # type: ignore[call-overload]


def test_a_crawl_folder_tells_its_links_hosts_and_verdicts(begin: Begin, tmp_path: Path) -> None:
    pages = list(begin())
    crawl = spoor.open_crawl(tmp_path / "crawl")
    links = {link.url: link for link in crawl.links()}
    assert {links[page.url].state for page in pages} == {"settled"}
    assert any(link.state == "waiting" and link.found_on in links for link in links.values())
    hosts = {host.name: host for host in crawl.hosts()}
    assert sum(host.pages for host in hosts.values()) == 30
    assert sum(host.relevant for host in hosts.values()) == sum(page.relevant for page in pages)
    assert [verdict.reason for verdict in crawl.verdicts()] == [page.reason for page in pages]
    assert all(page.text == "" for page in crawl.pages(texts=False))
    assert [page.relevant for page in crawl.pages(relevant_only=True)] == [True] * sum(page.relevant for page in pages)


def test_why_tells_what_the_command_prints(begin: Begin, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from spoor.cli.main import main

    url = list(begin(strategy="learned"))[-1].url
    why = spoor.open_crawl(tmp_path / "crawl").why(url)
    assert why.state == "visited"
    assert main(["why", str(tmp_path / "crawl"), url]) == 0
    assert capsys.readouterr().out == f"{why}\n"
    with pytest.raises(UsageError, match="not an http or https URL"):
        spoor.open_crawl(tmp_path / "crawl").why("nowhere")


def test_tables_are_made_where_the_library_is_installed(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = list(begin(max_pages=5))
    crawl = spoor.open_crawl(tmp_path / "crawl")
    table = crawl.to_arrow()
    assert table.column("url").to_pylist() == [page.url for page in pages]
    assert table.column("reason").to_pylist() == [page.reason for page in pages]
    assert crawl.to_arrow("links").num_rows > 5
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match="pip install pandas"):
        crawl.to_pandas()


def test_pandas_is_given_the_rows(begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library need not be installed for it: a module with the one function that is used."""
    list(begin(max_pages=5))
    frame = type("DataFrame", (), {"from_records": staticmethod(list)})
    monkeypatch.setitem(sys.modules, "pandas", pandas := ModuleType("pandas"))
    pandas.__dict__["DataFrame"] = frame
    crawl = spoor.open_crawl(tmp_path / "crawl")
    rows = crawl.to_pandas("hosts")
    assert [row["name"] for row in rows] == [host.name for host in crawl.hosts()]


def test_compare_takes_names_functions_and_objects(web: Web) -> None:
    strategies: list[AnyStrategy] = [
        "breadth-first",
        relevant_first,
        relevant_first,
        spoor.Strategy(OnHost("thai"), Arrival()),
    ]
    comparison = spoor.compare(web, strategies, budget=60, orders=2)
    names = [score.strategy for score in comparison.scores]
    assert names == ["breadth-first", "relevant_first", "relevant_first (2)", "Arrival", "oracle"]
    assert comparison.scores[1].found == comparison.scores[2].found
    assert {len(score.orders) for score in comparison.scores} == {2}
    named = spoor.compare(web.folder, {"mine": relevant_first}, budget=60, judge=OnHost("h0."), conditions="field")
    assert [score.strategy for score in named.scores] == ["mine", "oracle"]
    assert named.scores[0].elapsed


def test_functions_of_modules_are_compared_in_other_processes(web: Web) -> None:
    here, there = (spoor.compare(web, [relevant_first], budget=60, processes=count).scores for count in (1, 2))
    assert [score.curve for score in here] == [score.curve for score in there]


def test_a_web_that_was_made_anew_is_read_anew(tmp_path: Path) -> None:
    sizes = []
    for pages in (200, 400):
        generate(Request("topical", pages, 1), tmp_path / f"web{pages}", lambda pages: None)
        (tmp_path / f"web{pages}").rename(tmp_path / "web")
        sizes.append(spoor.compare(tmp_path / "web", ["breadth-first"]).reachable)
        (tmp_path / "web").rename(tmp_path / f"old{pages}")
    assert sizes[0] < sizes[1]


def test_pages_are_judged_by_names_objects_and_settings() -> None:
    thai = "<p>สวัสดีครับ ผมชอบข้าวผัดมาก และอยากไปกรุงเทพ</p>"
    pages: list[AnyPage] = [thai, thai.encode(), spoor.read_page(thai), "plain text in English, of course"]
    for target in ("th", "language:th", Target(language="th"), Config(Target(language="th"))):
        assert [verdict.relevant for verdict in spoor.judge(target, pages)] == [True, True, True, False]
    assert [verdict.relevant for verdict in spoor.judge(OnHost("invalid"), pages)] == [True] * 4


def test_a_file_is_judged(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>สวัสดีครับ ผมชอบข้าวผัดมาก และอยากไปกรุงเทพ</p>", "utf8")
    assert spoor.judge("th", [tmp_path / "page.html"])[0].relevant


def test_a_page_is_read_from_text_or_bytes() -> None:
    source = "<meta charset=windows-874><title>ข้าว</title><p>ข้าวผัด</p><a href='../x'>menu</a>"
    for given in (source, source.encode("cp874")):
        page = spoor.read_page(given, "http://a.test/b/c")
        assert (page.title, page.links[0].url, page.links[0].anchor) == ("ข้าว", "http://a.test/x", "menu")
    with pytest.raises(UsageError, match="'nowhere' is not an http or https URL"):
        spoor.read_page(source, "nowhere")


def test_models_are_trained_and_asked_for(tmp_path: Path) -> None:
    horses, engines = ([spoor.read_page(f"<p>{words} {n}") for n in range(12)] for words in ("horse saddle", "steam"))
    made = spoor.train_topic("horses", horses, engines, out=tmp_path / "horses.spoor")
    assert made.model.name == "horses"
    judged = spoor.judge(str(tmp_path / "horses.spoor"), [horses[0], engines[0]])
    assert [verdict.relevant for verdict in judged] == [True, False]
    classes = spoor.train_taxonomy("things", {"a": horses, "b": engines}, ["a"], out=tmp_path / "things.spoor")
    assert classes.trial.right == 1.0
    assert spoor.judge(str(tmp_path / "things.spoor"), horses)[0].label == "a"
    text = "zwitschere gugge schnurre lisme " * 60
    spoor.train_language("x-mine", text, out=tmp_path / "mine.spoor")
    assert spoor.judge(str(tmp_path / "mine.spoor"), [text])[0].relevant
    with pytest.raises(UsageError, match=r"\.spoor"):
        spoor.train_language("x-mine", text, out=tmp_path / "mine.bin")


def test_a_crawl_changes_nothing_of_its_process_and_prints_nothing(
    begin: Begin, capfd: pytest.CaptureFixture[str]
) -> None:
    handled = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    before = gc.get_threshold(), [signal.getsignal(one) for one in handled]
    crawl = iter(begin(strategy="learned"))
    next(crawl)
    assert before == (gc.get_threshold(), [signal.getsignal(one) for one in handled])
    list(crawl)
    assert before == (gc.get_threshold(), [signal.getsignal(one) for one in handled])
    assert capfd.readouterr() == ("", "")


def run(code: str) -> str:
    place = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=place)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_to_import_spoor_is_cheap() -> None:
    code = "import sys, spoor; print(*({'numpy', 'aiohttp', 'numba', 'sqlite3'} & set(sys.modules)))"
    assert run(code).strip() == ""


def test_functions_and_modules_of_one_name_live_together() -> None:
    code = """
from spoor.crawl import Crawl
from spoor.strategy import Strategy
import spoor
from spoor import crawl
import spoor.frontier
assert crawl is spoor.crawl and callable(spoor.crawl) and callable(spoor.strategy)
assert spoor.Strategy is Strategy and spoor.Settings is __import__("spoor.settings").settings.Config
assert set(spoor.__all__) <= set(dir(spoor)) and all(getattr(spoor, name) for name in spoor.__all__)
assert not hasattr(spoor, "nothing")
"""
    run(code)


def test_a_program_that_ends_in_the_middle_of_a_crawl_ends(web: Web, proxy: str, tmp_path: Path) -> None:
    code = f"""
import spoor
pages = iter(spoor.crawl({str(tmp_path / "crawl")!r}, language="th", seeds_file={str(web.folder / "seeds.txt")!r},
                         max_pages=400, strategy="breadth-first", host_delay=0.0, proxy={proxy!r}))
print(next(pages).url)
"""
    assert run(code).startswith("http://")
    assert list(spoor.open_crawl(tmp_path / "crawl").verdicts())


def test_type_checkers_know_what_is_exported(web: Web, tmp_path: Path) -> None:
    """mypy checks what is asserted here."""
    crawl = spoor.crawl(tmp_path, language="th", seeds=["http://a.test/"], strategy=relevant_first, max_pages=3)
    assert_type(crawl, spoor.RunningCrawl)
    assert_type(iter(crawl), Iterator[spoor.CrawledPage])
    assert_type(spoor.judge("th", ["text"]), list[spoor.Verdict])
    assert_type(spoor.simulate(web, relevant_first, budget=3).score.found, float)
    with pytest.raises(TypeError, match="'languages'"):
        spoor.crawl(tmp_path, languages="th")  # type: ignore[call-arg]


def test_the_examples_of_the_page_run(web: Web, proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text("utf8"), re.S)
    seeds = (web.folder / "seeds.txt").read_text().split()
    names: dict[str, object] = {"__name__": "python_page", "SEEDS": seeds, "PROXY": proxy, "WEB": web.folder}
    for code in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(compile(code, "python.md", "exec", dont_inherit=True), names)
        assert said.getvalue() or "print" not in code
    assert len(blocks) >= 9
