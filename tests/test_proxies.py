"""The proxies that the environment names: told where they are set, used where that is asked for."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from spoor.cli.main import main
from spoor.errors import UsageError
from spoor.fetch.proxies import Proxies, named_proxies

VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@contextlib.contextmanager
def serving() -> Iterator[tuple[str, list[str]]]:
    """A server that has every page, and the targets of the requests it gets: a whole URL if it is taken for a proxy."""
    targets: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            targets.append(self.path)
            self.send_response(404 if self.path.endswith("/robots.txt") else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", "8")
            self.end_headers()
            self.wfile.write(b"<p>a</p>")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", targets
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def crawl(folder: Path, *words: str) -> int:
    judge = ["--keywords", "a", "--strategy", "breadth-first", "--host-delay", "0", "--allow-private"]
    return main(["crawl", *judge, *words, "--out", str(folder)])


def test_a_proxy_of_the_environment_is_not_used_and_a_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving() as (site, asked), serving() as (proxy, through):
        monkeypatch.setenv("HTTP_PROXY", proxy.replace("//", "//me:secret@"))
        assert crawl(tmp_path / "crawl", "--seed", f"{site}/page") == 0
    assert asked == ["/robots.txt", "/page"] and through == []
    lines = [line for line in capsys.readouterr().err.splitlines() if "PROXY" in line]
    unused = f"HTTP_PROXY={proxy.replace('//', '//…@')} is set and not used"
    assert lines == [f"spoor: warning: {unused}: requests go directly; --proxy env sends them through it"]


def test_with_env_requests_go_through_it_except_to_the_hosts_of_no_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving() as (site, asked), serving() as (proxy, through):
        monkeypatch.setenv("ALL_PROXY", proxy)
        monkeypatch.setenv("NO_PROXY", "example.org, 127.0.0.0/8")
        seeds = ("--seed", "http://a.test/page", "--seed", f"{site}/page")
        assert crawl(tmp_path / "crawl", *seeds, "--proxy", "env") == 0
        assert 'proxy = "env"' in (tmp_path / "crawl" / "crawl.toml").read_text()
    assert sorted(through) == ["http://a.test/page", "http://a.test/robots.txt"]
    assert sorted(asked) == ["/page", "/robots.txt"]
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "PROXY" in line]
    assert f"requests go through the proxies of the environment, ALL_PROXY={proxy}" in line


def test_a_host_that_is_asked_directly_may_not_be_private_although_the_proxy_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving() as (site, asked), serving() as (proxy, through):
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.setenv("NO_PROXY", "localhost")
        near = site.replace("127.0.0.1", "localhost")
        words = ["--keywords", "a", "--strategy", "breadth-first", "--host-delay", "0", "--proxy", "env"]
        words += ["--seed", f"{near}/page", "--seed", "http://a.test/page"]
        assert main(["crawl", *words, "--out", str(tmp_path / "crawl")]) == 0
    assert asked == [] and "http://a.test/page" in through


def test_a_proxy_that_cannot_be_used_is_refused_before_a_folder_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://me:secret@localhost:1080")
    assert crawl(tmp_path / "crawl", "--seed", "http://a.test/", "--proxy", "env") == 2
    said = capsys.readouterr().err
    assert "ALL_PROXY=socks5://…@localhost:1080: only http and https proxies can be used" in said
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize(
    ("environment", "origin", "proxy"),
    [
        ({}, "http://a.test", ""),
        ({"HTTP_PROXY": "http://p:1"}, "http://a.test", "http://p:1"),
        ({"HTTP_PROXY": "http://p:1"}, "https://a.test", ""),
        ({"HTTPS_PROXY": "p:1"}, "https://a.test", "http://p:1"),
        ({"ALL_PROXY": "http://p:1", "HTTP_PROXY": "http://q:1"}, "http://a.test", "http://q:1"),
        ({"ALL_PROXY": "http://p:1", "HTTP_PROXY": "http://q:1"}, "https://a.test", "http://p:1"),
        ({"HTTP_PROXY": "http://p:1", "http_proxy": "http://q:1"}, "http://a.test", "http://q:1"),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "a.test"}, "http://a.test", ""),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "a.test"}, "http://www.a.test", ""),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "a.test"}, "http://aa.test", "http://p:1"),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": ".A.test"}, "http://www.a.test", ""),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "*.a.test:8080"}, "http://www.a.test:8080", ""),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "a.test:8080"}, "http://a.test", "http://p:1"),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "*"}, "http://a.test", ""),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8,::1"}, "http://10.1.2.3", ""),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8,::1"}, "http://[::1]:8080", ""),
    ],
)
def test_which_proxy_the_environment_names_for_an_origin(environment: dict[str, str], origin: str, proxy: str) -> None:
    assert Proxies.of("env", environment).of_origin(origin) == proxy


def test_what_is_not_a_proxy_is_named_with_its_variable() -> None:
    with pytest.raises(UsageError, match="https_proxy=socks4://p"):
        Proxies.of("env", {"https_proxy": "socks4://p"})


def test_passwords_are_not_shown() -> None:
    environment = {"HTTP_PROXY": "me:secret@p:1", "HTTPS_PROXY": "http://me:secret@p:1", "ALL_PROXY": "p:1"}
    assert [*named_proxies(environment)] == ["HTTP_PROXY=…@p:1", "HTTPS_PROXY=http://…@p:1", "ALL_PROXY=p:1"]
