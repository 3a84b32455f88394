"""Archives are replayed by pywb, in an environment of its own: it brings older libraries."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.forked import spoor

WAYBACK = Path(sys.prefix) / "pywb" / "bin" / "wayback"

pytestmark = pytest.mark.skipif(not WAYBACK.exists(), reason="pywb is not installed: make validators")


class Unfollowed(urllib.request.HTTPRedirectHandler):
    """Redirects in the archive are answers like others."""

    def redirect_request(self, *arguments: object) -> None:
        return None


@contextmanager
def replaying(archive: Path, folder: Path) -> Iterator[str]:
    """The address under which pywb replays the WARC files of a crawl by our index."""
    places = f"    index_paths: {archive}/\n    archive_paths: {archive}/\n"
    (folder / "config.yaml").write_text(f"collections:\n  crawl:\n{places}", "utf8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(WAYBACK), "--bind", "127.0.0.1", "--port", str(port), "--directory", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_for(port)
            yield f"http://127.0.0.1:{port}/crawl"
        finally:
            server.kill()


def _wait_for(port: int) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("pywb does not listen")


def replayed(address: str) -> tuple[int, bool]:
    """Its status, and whether pywb found it in the archive."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Unfollowed)
    try:
        with opener.open(address, timeout=30) as found:
            return found.status, "memento-datetime" in found.headers
    except urllib.error.HTTPError as found:
        with found:
            return found.code, "memento-datetime" in found.headers


def test_pywb_finds_and_replays_every_url_of_the_demo_crawl(tmp_path: Path) -> None:
    assert spoor("demo", "--quiet", "--max-pages", "150", "--out", str(tmp_path / "demo")).wait(120) == 0
    archive = tmp_path / "demo" / "breadth-first" / "warc"
    captures = [line.split(" ", 2) for file in archive.glob("*.cdxj") for line in file.read_text("utf8").splitlines()]
    assert len(captures) > 100
    missing = []
    with replaying(archive, tmp_path) as pywb:
        for _, moment, fields in captures:
            capture = json.loads(fields)
            found = replayed(f"{pywb}/{moment}id_/{capture['url']}")
            if found != (int(capture["status"]), True):
                missing.append((capture["url"], found))
    assert missing == []
