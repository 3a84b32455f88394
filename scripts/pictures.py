"""Makes report.png, dashboard-overview.png, dashboard-pages.png and harvest.svg in docs/images: runs the demo, takes
pictures of its report and of the dashboard, and draws both harvests.

    PYTHONPATH=. python scripts/pictures.py

Pages are drawn by chromium, Thai by a font such as Debian's fonts-thai-tlwg; the curves need matplotlib."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.chromium import tab

from spoor.cli.main import main
from spoor.dashboard.guard import Guard
from spoor.dashboard.server import Dashboard, serving
from spoor.dashboard.watching import WatchedCrawl
from spoor.lab.plots import blank, svg_of
from spoor.report.figures import figures
from spoor.store.crawl_folder import CrawlFolder

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
STRATEGIES = {"learned": "#0b6e75", "breadth-first": "#98a5b3"}
QUIET = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
WIDTH, HEIGHT = 1200, 800


def make_pictures() -> int:
    chromium = shutil.which("chromium")
    if chromium is None:
        print("pictures: chromium is not installed (Debian: apt-get install chromium)", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        demo = Path(name)
        main(["demo", "--out", str(demo)])
        (IMAGES / "harvest.svg").write_text(harvest(demo), "utf8")
        photograph(chromium, demo / "learned" / "report.html", IMAGES / "report.png")
        asyncio.run(photograph_dashboard(demo))
    return 0


async def photograph_dashboard(demo: Path) -> None:
    """The overview of both crawls, and pages as on a telephone at night."""
    crawls = [WatchedCrawl(CrawlFolder(demo / strategy), number) for number, strategy in enumerate(STRATEGIES, 1)]
    async with serving(Dashboard(crawls, Guard.of("127.0.0.1")), "127.0.0.1", 0) as link, tab(demo / "browser") as page:
        await page.look(1100)
        await page.call("Page.navigate", url=f"{link}#/1/overview?beside=2")
        await page.until("document.querySelectorAll('.tile').length > 8 && document.querySelectorAll('.line-2').length")
        await page.photograph(IMAGES / "dashboard-overview.png")
        await page.look(390, 760, "dark")
        await page.run("location.hash = '#/1/pages?order=best'")
        await page.until("document.querySelector('.cards li').textContent")
        await page.photograph(IMAGES / "dashboard-pages.png", whole=False)


def harvest(demo: Path) -> str:
    """Relevant pages over visits, as SVG."""
    figure = blank(7.2, 3.4)
    panel = figure.subplots()
    for strategy, colour in STRATEGIES.items():
        visits, found, _ = zip(*figures(CrawlFolder(demo / strategy)).curve, strict=True)
        panel.plot(visits, found, color=colour, linewidth=2.2)
        panel.annotate(
            f"{strategy}: {found[-1]}", (visits[-1], found[-1]), color=colour, ha="right", va="bottom", fontsize=10
        )
    panel.set_title("Thai pages found, over the number of visits", loc="left", fontsize=11)
    panel.margins(y=0.12)
    panel.set(xlim=(0, None), ylim=(0, None), xlabel="visits")
    panel.grid(alpha=0.25)
    panel.spines[["top", "right"]].set_visible(False)
    return svg_of(figure)


def photograph(chromium: str, page: Path, picture: Path) -> None:
    """The top of a page, as large as a window."""
    wishes = (f"--screenshot={picture}", f"--window-size={WIDTH},{HEIGHT}", "--hide-scrollbars")
    profile = f"--user-data-dir={page.parent / 'profile'}"
    subprocess.run([chromium, *QUIET, profile, *wishes, page.as_uri()], check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    sys.exit(make_pictures())
