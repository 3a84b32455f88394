"""A crawl of several shards in one process: any web that a proxy serves, and a small one with copies on two shards."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from aiohttp import web

from spoor import settings as config
from spoor.crawling.share import Share
from spoor.live.shards import Coordinator, Shard, Totals, done_without_hosts
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.sharded_folder import GrantedVisits, ShardedFolder
from tests.html_site import answering, html

THAI = "ภาษาไทยเป็นภาษาที่มีผู้พูดมากในประเทศไทย และมีตัวอักษรของตนเอง "
COPIED = "<title>Copy</title><p>กรุงเทพมหานครเป็นเมืองหลวง มีแม่น้ำเจ้าพระยาไหลผ่าน วัดและตลาดน้ำมากมาย</p>"
PAGES = {
    "http://one.test/": "<a href='/copy'>สำเนา</a> <a href='http://two.test/'>two</a>" + THAI * 3,
    "http://one.test/copy": COPIED,
    "http://two.test/": "<a href='http://six.test/copy'>สำเนา</a> <a href='/more'>more</a>" + THAI * 4,
    "http://two.test/more": "<a href='http://one.test/last'>last</a> nothing but English",
    "http://six.test/copy": COPIED,
    "http://one.test/last": "<a href='http://four.test/'>four</a>" + THAI,
    "http://four.test/": "<a href='http://one.test/'>one</a> English",
}
"""Of two shards, the first has the hosts two, six and four, the second the host one."""


def _unheard(totals: Totals) -> None:
    """Nobody listens."""


async def crawled(
    folder: ShardedFolder, asked: Config, shards: int, tell: Callable[[Totals], None] = _unheard
) -> tuple[str, Totals]:
    """Why it ended, and what all shards have done. `tell` hears of every round."""
    folder.path.mkdir(exist_ok=True)
    table = folder.table(shards)
    CrawlFolder(folder.path).write_settings(config.dumps(asked))
    running = [Shard(folder.shard(number), Share(number, table), asked) for number in range(shards)]
    for shard in running:
        shard.peers = running
    with closing(GrantedVisits(folder.coordinator)) as granted:
        coordinator = Coordinator(running, granted, asked.crawl.max_pages, done_without_hosts(folder))
        ended = await coordinator.run(tell)
    return ended, coordinator.totals()


def small_settings(visits: int | None = None) -> Config:
    crawling = Crawling(seeds=("http://one.test/",), connections=2, strategy="learned", max_pages=visits)
    return Config(Target(script="thai"), crawling, politeness=Politeness(host_delay=0.0))


async def small_crawl(
    path: Path, visits: int | None = None, shards: int = 2, tell: Callable[[Totals], None] = _unheard
) -> str:
    """Of `PAGES`; says why it ended."""

    def answer(request: web.BaseRequest) -> web.Response:
        body = PAGES.get(f"http://{request.host}{request.path}")
        return web.Response(status=404) if body is None else html(f"<meta charset='utf8'>{body}")

    async with answering(answer) as proxy:
        asked = small_settings(visits)
        asked = replace(asked, crawl=replace(asked.crawl, proxy=proxy))
        return (await crawled(ShardedFolder(path), asked, shards, tell))[0]
