"""Current figures of a crawl in this process, for its metrics."""

from __future__ import annotations

from dataclasses import dataclass, field

from spoor.frontier.entry import State
from spoor.live.running import Session
from spoor.metrics import CrawlCounts, CrawlMetrics, FolderMetrics
from spoor.records import Judged, Outcome, Visit
from spoor.roles import Downloader


@dataclass
class JudgeTime:
    """A downloader that adds up the seconds spent on judging pages, in all processes."""

    downloader: Downloader
    seconds: float = field(default=0.0, init=False)

    async def fetch(self, visit: Visit) -> Outcome:
        outcome = await self.downloader.fetch(visit)
        if isinstance(outcome, Judged):
            self.seconds += outcome.seconds
        return outcome


def metrics_of(session: Session) -> CrawlMetrics:
    """Call it once, before the session runs: it counts the pages of earlier runs."""
    driver, frontier = session.driver, session.crawl.frontier
    driver.downloader = judging = JudgeTime(driver.downloader)

    def present(counts: CrawlCounts) -> None:
        counts.links = {state: frontier.count(state) for state in State}
        counts.totals, counts.paused = session.totals(), bool(session.crawl.guidance.paused_by)
        counts.in_flight, counts.hosts_delayed = driver.under_way, frontier.hosts_delayed()
        counts.frontier_seconds, counts.judge_seconds = driver.deciding, judging.seconds

    metrics = CrawlMetrics(FolderMetrics(session.actions.folder), present)
    metrics.counts()
    return metrics
