"""A folder is data: one from somebody else starts no program and sends nothing anywhere, whatever it names, until a
person on this machine allows it."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web

import spoor
from spoor.cli.main import main
from spoor.errors import BadInput
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.trust import TrustFile
from tests import sharded_crawl
from tests.html_site import answering, events_of, html, site
from tests.served_dashboard import served_dashboard
from tests.test_active_learning import pages, settings_for
from tests.thread_server import in_thread

SECRET = "the-secret-of-this-person"


@dataclass
class Listener:
    """A server on this machine that is anything one takes it for: a proxy, a model, a translator."""

    address: str
    heard: list[web.BaseRequest]


@pytest.fixture
def listener() -> Iterator[Listener]:
    heard = list[web.BaseRequest]()

    def answer(request: web.BaseRequest) -> web.Response:
        heard.append(request)
        return html("<p>horses on the steppe, मशीन <a href='/more'>more horses</a>")

    with in_thread(answering(answer)) as address:
        yield Listener(address, heard)


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a person who has allowed nothing yet, and has a secret."""
    monkeypatch.setenv("SPOOR_TRUST", str(tmp_path / "config" / "trusted.toml"))
    monkeypatch.setenv("SECRET_KEY", SECRET)
    return tmp_path / "config" / "trusted.toml"


HOSTILE = """
[teacher]
url = "{address}/v1"
model = "m"
key_env = "SECRET_KEY"
[render]
mode = "always"
browser = "{browser}"
"""


@dataclass(frozen=True)
class HostileFolder:
    """Its browser leaves the file `started`."""

    path: Path
    started: Path
    listener: Listener

    def assert_nothing_happened(self) -> None:
        assert not self.listener.heard and not self.started.exists()


@pytest.fixture
def hostile(tmp_path: Path, trusted: Path, listener: Listener) -> HostileFolder:
    """A crawl that was really made, with links that wait; then its settings name all that they can."""
    path, browser, started = tmp_path / "crawl", tmp_path / "browser", tmp_path / "started"

    async def crawl() -> None:
        async with site(pages()) as address:
            await events_of(path, settings_for(address, tmp_path, "[teacher]\nquestions = 30\n", max_pages=20))

    asyncio.run(crawl())
    browser.write_text(f"#!/bin/sh\ntouch {started}\n")
    browser.chmod(0o755)
    settings = (path / "crawl.toml").read_text().replace("max_pages = 20", "max_pages = 40")
    kept, _, _ = settings.partition("[translate]")
    kept = kept.replace('proxy = ""', f'proxy = "{listener.address}"')
    (path / "crawl.toml").write_text(kept + HOSTILE.format(address=listener.address, browser=browser))
    return HostileFolder(path, started, listener)


READING = [
    "report CRAWL",
    "report CRAWL --politeness",
    "why CRAWL http://a.test/",
    "export CRAWL --all --workers 1 --format jsonl --out OUT/pages.jsonl",
    "check CRAWL",
    "check CRAWL --repair",
    "compact CRAWL",
    "web build CRAWL --workers 1 --out OUT/web",
    "pause CRAWL",
    "unpause CRAWL",
    "budget CRAWL --max-pages 60",
    "add-seeds CRAWL http://b.test/",
    "block CRAWL http://c.test/",
    "unblock CRAWL http://c.test/",
    "slow CRAWL a.test 9",
    "trust CRAWL --list",
]
"""Commands that do their work on any folder."""

RESUMING = ["crawl --out CRAWL", "crawl --out CRAWL --max-pages 50", "ask CRAWL", "crawl --out CRAWL --workers 1"]
"""Commands that go on with a crawl."""


def spoor_command(words: str, folder: Path) -> int:
    out = folder.parent / "out"
    out.mkdir(exist_ok=True)
    return main([word.replace("CRAWL", str(folder)).replace("OUT", str(out)) for word in words.split()])


def test_commands_that_read_a_hostile_folder_start_nothing_and_ask_nobody(hostile: HostileFolder) -> None:
    for words in READING:
        assert spoor_command(words, hostile.path) == 0, words
        hostile.assert_nothing_happened()
    crawl = spoor.open_crawl(hostile.path)
    url = next(iter(crawl.pages())).url
    assert crawl.why(url).state
    assert spoor_command(f"why CRAWL {url}", hostile.path) == 0
    assert spoor_command(f"mark CRAWL {url} relevant", hostile.path) == 0
    with served_dashboard(CrawlFolder(hostile.path)) as dashboard:
        for part in ("", "/questions", "/pages", "/settings", "/queue"):
            dashboard.read(f"crawls/1{part}")
        assert dashboard.act(1, {"action": "pause"}).status < 300
    hostile.assert_nothing_happened()


@pytest.mark.parametrize("words", RESUMING)
def test_a_hostile_folder_is_not_resumed_but_named_with_all_that_it_asks_for(
    words: str,
    hostile: HostileFolder,
    trusted: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\ny\nq\n"))
    before = (hostile.path / "crawl.toml").read_text()
    assert spoor_command(words, hostile.path) == 1
    (line,) = capsys.readouterr().err.splitlines()
    for setting in ("[teacher] url", "[teacher] key_env", "[render] browser", "[crawl] proxy", "[crawl] allow_private"):
        assert setting in line
    assert f"SECRET_KEY to {hostile.listener.address}/v1" in line and SECRET not in line
    assert line.endswith(f"allow it with `spoor trust {hostile.path}`")
    assert (hostile.path / "crawl.toml").read_text() == before and not trusted.exists()
    hostile.assert_nothing_happened()


def test_the_api_does_not_resume_it_either(hostile: HostileFolder) -> None:
    with pytest.raises(BadInput, match=r"\[render\] browser: a program that is started, .*`spoor trust "):
        spoor.crawl(hostile.path, max_pages=50)
    hostile.assert_nothing_happened()


def test_an_option_allows_its_own_value_and_no_other(
    hostile: HostileFolder, trusted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spoor_command("crawl --out CRAWL --allow-private --proxy http://127.0.0.1:9/", hostile.path) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "[render] browser" in line and "proxy" not in line and "allow_private" not in line
    hostile.assert_nothing_happened()


def test_what_a_person_allows_is_then_done(
    hostile: HostileFolder, trusted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spoor_command("trust CRAWL", hostile.path) == 0
    said = capsys.readouterr().out
    assert f'[render] browser: a program that is started, "{hostile.path.parent / "browser"}"' in said
    assert tomllib.loads(trusted.read_text())["keys"] == [f"SECRET_KEY to {hostile.listener.address}/v1"]
    assert trusted.stat().st_mode & 0o077 == 0
    assert spoor_command("crawl --out CRAWL", hostile.path) == 0
    assert hostile.started.exists()
    assert any(request.headers.get("Authorization") == f"Bearer {SECRET}" for request in hostile.listener.heard)


def test_a_key_that_is_allowed_for_one_server_goes_to_no_other(
    hostile: HostileFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spoor_command("trust CRAWL", hostile.path) == 0
    settings = hostile.path / "crawl.toml"
    settings.write_text(settings.read_text().replace(f"{hostile.listener.address}/v1", "http://127.0.0.1:9/v1"))
    capsys.readouterr()
    assert spoor_command("crawl --out CRAWL", hostile.path) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "SECRET_KEY to http://127.0.0.1:9/v1" in line and "browser" not in line


def test_trust_lists_before_it_allows_and_can_be_read_by_programs(
    hostile: HostileFolder, trusted: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert spoor_command("trust CRAWL --list --json", hostile.path) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {one["power"] for one in listed["permissions"]} == {
        "servers",
        "keys",
        "programs",
        "proxies",
        "private_addresses",
    }
    assert not any(one["allowed"] for one in listed["permissions"]) and not trusted.exists()
    terminal = io.StringIO("n\n")
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stdin", terminal)
    assert spoor_command("trust CRAWL", hostile.path) == 0
    assert "nothing was allowed" in capsys.readouterr().out and not trusted.exists()


TRANSLATING = '[target]\nontology = "topic.csv"\n[translate]\nendpoint = "{}"\nkey_variable = "SECRET_KEY"\n'
BY_NAME = '[target]\njudge = "ontology:topic.csv:translator=translator.toml"\n'


@pytest.mark.parametrize("target", [TRANSLATING, BY_NAME])
def test_a_translator_gets_neither_texts_nor_the_key(
    target: str, listener: Listener, trusted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if only a file that the name of a judge refers to has its address."""
    folder = tmp_path / "crawl"
    with open_for_crawling(folder):
        pass
    (folder / "topic.csv").write_text("term,importance\nhorses,1\n")
    (folder / "translator.toml").write_text(
        f'[translate]\nendpoint = "{listener.address}"\nkey_variable = "SECRET_KEY"\n'
    )
    seeds = f'[crawl]\nseeds = ["{listener.address}/"]\n'
    (folder / "crawl.toml").write_text(target.format(listener.address) + seeds)
    assert main(["crawl", "--out", str(folder), "--allow-private", "--max-pages", "2"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"SECRET_KEY to {listener.address}" in line and not listener.heard
    assert main(["trust", str(folder)]) == 0
    assert main(["crawl", "--out", str(folder), "--allow-private", "--max-pages", "2"]) == 0
    assert any(request.path == "/translate" for request in listener.heard)


def test_shards_of_a_hostile_folder_are_not_started(
    trusted: Path, listener: Listener, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sharded"
    asyncio.run(sharded_crawl.small_crawl(path, visits=1))
    settings = path / "crawl.toml"
    settings.write_text(re.sub('(?<=proxy = ").*(?=")', listener.address, settings.read_text()))
    listener.heard.clear()
    assert main(["crawl", "--out", str(path), "--max-pages", "9"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f'[crawl] proxy: a proxy that sees every request, "{listener.address}"' in line and not listener.heard


WAYS: dict[str, Callable[[Path, str], object]] = {
    "flags": lambda folder, url: main(
        ["crawl", "--keywords", "horses", "--seed", url, "--allow-private", "--max-pages", "1", "--out", str(folder)]
    ),
    "file": lambda folder, url: main(["crawl", str(written(folder, url)), "--out", str(folder)]),
    "API": lambda folder, url: list(
        spoor.crawl(folder, keywords=["horses"], seeds=[url], allow_private=True, max_pages=1)
    ),
}


def written(folder: Path, url: str) -> Path:
    file = folder.with_name("my.toml")
    crawl = f'seeds = ["{url}"]\nallow_private = true\nmax_pages = 1\n'
    file.write_text(f'[target]\nkeywords = ["horses"]\n[crawl]\n{crawl}')
    return file


@pytest.mark.parametrize("way", WAYS)
def test_ones_own_crawl_is_resumed_and_moved_without_a_question(
    way: str, listener: Listener, trusted: Path, tmp_path: Path
) -> None:
    folder, elsewhere = tmp_path / "crawl", tmp_path / "elsewhere" / "moved"
    WAYS[way](folder, f"{listener.address}/")
    assert len(listener.heard) == 2
    assert tomllib.loads(trusted.read_text()) == {"private_addresses": ["true"]}
    shutil.copytree(folder, elsewhere)
    shutil.rmtree(folder)
    assert main(["crawl", "--out", str(elsewhere), "--max-pages", "2"]) == 0
    assert len(list(spoor.open_crawl(elsewhere).pages())) == 2


def test_a_crawl_goes_on_where_nothing_can_be_recorded(
    listener: Listener, trusted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trusted.parent.write_text("a file in place of the folder")
    assert WAYS["flags"](tmp_path / "crawl", f"{listener.address}/") == 0
    assert (
        "what this crawl may use is not recorded, so resuming it will need the same options" in capsys.readouterr().err
    )


@pytest.mark.parametrize("text", ["programs = [", "programs = 3", "everything = ['x']"])
def test_a_damaged_file_of_trust_allows_nothing(
    text: str, hostile: HostileFolder, trusted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trusted.parent.mkdir()
    trusted.write_text(text)
    assert spoor_command("crawl --out CRAWL", hostile.path) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert str(trusted) in line
    hostile.assert_nothing_happened()


@pytest.mark.parametrize(
    ("environment", "file"),
    [
        ({"SPOOR_TRUST": "/t/trust.toml", "XDG_CONFIG_HOME": "/c"}, "/t/trust.toml"),
        ({"XDG_CONFIG_HOME": "/c"}, "/c/spoor/trusted.toml"),
        ({"XDG_CONFIG_HOME": "relative"}, os.path.expanduser("~/.config/spoor/trusted.toml")),
        ({}, os.path.expanduser("~/.config/spoor/trusted.toml")),
    ],
)
def test_where_trust_is_recorded(environment: dict[str, str], file: str) -> None:
    assert TrustFile.of(environment).path == Path(file)


def test_a_folder_without_settings_is_not_trusted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trust", str(tmp_path)]) == 1
    assert "has no crawl.toml; give the folder of a crawl" in capsys.readouterr().err
