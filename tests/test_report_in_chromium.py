"""report.html in a real browser: it is laid out, the curves are drawn, and nothing that a page said is run."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from spoor.report.figures import figures
from spoor.report.page import write_page
from tests.chromium import needs_chromium, tab
from tests.written_crawl import small_crawl

pytestmark = needs_chromium

WIDTHS = {"phone": 390, "desk": 1200}


@dataclass(frozen=True)
class Seen:
    """The page as the browser has it, and pictures of it, by width."""

    dom: str
    pictures: dict[int, Path]


async def look_at(page: Path) -> Seen:
    async with tab(page.parent / "profile") as browser:
        await browser.call("Page.navigate", url=page.as_uri())
        await browser.until("location.protocol === 'file:' && document.readyState === 'complete'")
        pictures = {width: page.parent / f"{width}.png" for width in WIDTHS.values()}
        for width, picture in pictures.items():
            await browser.look(width, 1600)
            await browser.photograph(picture, whole=False)
        return Seen(await browser.run("document.documentElement.outerHTML"), pictures)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    folder = tmp_path_factory.mktemp("browser")
    write_page(figures(small_crawl(folder / "small")), folder / "report.html")
    return asyncio.run(look_at(folder / "report.html"))


def test_the_browser_finds_what_was_written(seen: Seen) -> None:
    dom = seen.dom
    assert dom.count("<svg") == 2 and dom.count('class="line"') == 2 and dom.count('class="tile"') == 12
    for title in ("Relevant pages found", "Links waiting", "Hosts by yield", "Slowest hosts", "Languages", "Redirects"):
        assert f"<h2>{title}</h2>" in dom
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in dom and "<script" not in dom and "<img" not in dom


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_it_is_drawn_at_any_width(seen: Seen, width: int) -> None:
    colours = colours_in(seen.pictures[width])
    assert len(colours) > 50, "more than a blank page"
    assert "#0b6e75" in colours, "the accent, in which the curves are drawn"


def colours_in(picture: Path) -> set[str]:
    """As CSS writes them."""
    red, green, blue = np.moveaxis((imread(picture)[:, :, :3] * 255).round().astype(np.uint32), 2, 0)
    return {f"#{colour:06x}" for colour in np.unique(red << 16 | green << 8 | blue).tolist()}
