"""A crawl of several shards is steered as one: each hears what concerns its hosts, and one that stops ends all."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import spoor
from spoor.actions import AddSeeds, Block, Budget, SlowDown, Stop
from spoor.cli.main import main
from spoor.errors import BadInput
from spoor.live.shards import Totals
from spoor.steering.inbox import Inbox
from spoor.steering.submitting import recipients
from spoor.store.crawl_folder import CrawlFolder
from tests.sharded_crawl import small_crawl


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shards") / "small"
    asyncio.run(small_crawl(folder, visits=3))
    return folder


def test_what_concerns_a_host_goes_to_its_shard_and_the_rest_to_all(crawl: Path) -> None:
    folder = CrawlFolder(crawl)
    two, one = folder.parts
    assert recipients(folder, Block("*.ads.test")) == [(two, Block("*.ads.test")), (one, Block("*.ads.test"))]
    assert recipients(folder, SlowDown("one.test", 5.0)) == [(one, SlowDown("one.test", 5.0))]
    seeds = ("http://one.test/a", "http://two.test/", "http://one.test/b")
    assert recipients(folder, AddSeeds(seeds)) == [(one, AddSeeds((seeds[0], seeds[2]))), (two, AddSeeds(seeds[1:2]))]
    assert recipients(two, Block("*")) == [(two, Block("*"))]
    with pytest.raises(BadInput, match="share one budget; stop it, and start it again with another --max-pages"):
        recipients(folder, Budget(5))


def test_a_block_sets_aside_links_on_every_shard_and_the_dashboard_names_them(
    crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["block", str(crawl), "*.test"]) == 0
    assert capsys.readouterr().out.count("done") == 2
    assert main(["unblock", str(crawl), "*.test"]) == 0
    assert [part.name for part in CrawlFolder(crawl).parts] == ["small/000", "small/001"]


def test_a_paused_crawl_fetches_nothing_and_ends_when_one_shard_is_stopped(crawl: Path) -> None:
    rounds = list[Totals]()

    def tell(totals: Totals) -> None:
        # In every round: a stop that is older than the session of the shard is not for it.
        Inbox(CrawlFolder(crawl).parts[0].inbox).leave(Stop(), "somebody")
        rounds.append(totals)

    assert main(["--quiet", "pause", str(crawl)]) == 0
    assert asyncio.run(small_crawl(crawl, tell=tell)) == "somebody stopped it"
    assert rounds[-1].visits == 3
    assert main(["--quiet", "unpause", str(crawl)]) == 0
    assert asyncio.run(small_crawl(crawl)) == "nothing is waiting"
    assert len(list(spoor.open_crawl(crawl).pages(texts=False))) == 7
