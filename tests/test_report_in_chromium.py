"""report.html in a real browser: it is laid out, the curves are drawn, and nothing that a page said is run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from spoor.report.figures import figures
from spoor.report.page import write_page
from tests.chromium import CHROMIUM, QUIET, needs_chromium
from tests.written_crawl import small_crawl

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    write_page(figures(small_crawl(folder / "small")), folder / "report.html")
    return folder / "report.html"


def chromium(page: Path, *wishes: str) -> str:
    profile = f"--user-data-dir={page.parent / 'profile'}"
    done = subprocess.run(
        [CHROMIUM, *QUIET, profile, *wishes, page.as_uri()], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def test_the_browser_finds_what_was_written(page: Path) -> None:
    dom = chromium(page, "--dump-dom")
    assert dom.count("<svg") == 2 and dom.count('class="line"') == 2 and dom.count('class="tile"') == 11
    for title in ("Relevant pages found", "Links waiting", "Hosts by yield", "Slowest hosts", "Languages", "Redirects"):
        assert f"<h2>{title}</h2>" in dom
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in dom and "<script" not in dom and "<img" not in dom


@pytest.mark.parametrize("width", [390, 1200], ids=["phone", "desk"])
def test_it_is_drawn_at_any_width(page: Path, width: int) -> None:
    picture = page.parent / f"{width}.png"
    chromium(page, f"--screenshot={picture}", f"--window-size={width},1600")
    colours = colours_in(picture)
    assert len(colours) > 50, "more than a blank page"
    assert (11, 110, 117) in colours, "the accent, in which the curves are drawn"


def colours_in(picture: Path) -> set[tuple[int, ...]]:
    pixels = (imread(picture)[:, :, :3] * 255).round().astype(np.uint8).reshape(-1, 3)
    return set(map(tuple, np.unique(pixels, axis=0).tolist()))
