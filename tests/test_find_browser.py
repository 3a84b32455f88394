"""Which browser is used, and what is said when there is none."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from spoor.errors import BadInput, MissingExtra
from spoor.render.browser import PROGRAMS, Browser, find_browser

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pages are rendered on Linux only")


def installed(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("#!/bin/sh\nexit 1\n")
        (folder / name).chmod(0o755)


def test_a_headless_shell_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "chromium", "chrome-headless-shell")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_browser() == str(tmp_path / "chrome-headless-shell")


def test_a_browser_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "chromium", "mine")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_browser("mine") == find_browser(str(tmp_path / "mine")) == str(tmp_path / "mine")


def test_without_a_browser_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtra, match=f"install one of {PROGRAMS[0]}, .*apt-get install {PROGRAMS[0]}"):
        find_browser()
    with pytest.raises(MissingExtra, match="no browser is called mine"):
        find_browser("mine")


def test_a_program_that_is_no_browser_is_refused_in_one_line(tmp_path: Path) -> None:
    async def opened() -> None:
        async with Browser(str(tmp_path / "chromium")) as browser, browser.tab():
            pass

    installed(tmp_path, "chromium")
    with pytest.raises(BadInput, match="does not start as a browser"):
        asyncio.run(opened())
