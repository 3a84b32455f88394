"""Explains in readable lines why a URL was fetched, is not fetched yet, or never will be."""

from __future__ import annotations

import heapq
import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from spoor import registry
from spoor.actions import described
from spoor.crawling.guidance import BLOCKED
from spoor.crawling.revision import relearn
from spoor.errors import SpoorError
from spoor.frontier.entry import Entry, Host, State
from spoor.live.from_settings import strategy_of
from spoor.live.page_reader import with_canonical_links
from spoor.live.relearning import earlier_crawl, restore, warm_name
from spoor.ordering.learned.features import named_features
from spoor.ordering.learned.learned import Learned
from spoor.progress import Progress, silently
from spoor.records import Listed, Page, WaitingLink
from spoor.report.contents import archived_page
from spoor.report.showing import moment, size
from spoor.report.why import STEPS_BACK, UrlHistory
from spoor.robots import NeededFile
from spoor.settings import GIVEN_IN_PYTHON, Config
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.crawl_parts import Part, lessons_in_order, open_parts, owner_of
from spoor.store.journal import EventRow, PageRow, count_lessons, number_of, numbered_lessons, pages_of
from spoor.store.mail import lessons_of_others
from spoor.store.renders import RenderRow
from spoor.store.verdicts import Given
from spoor.urls import origin_of, robots_url

# Contributions to the score of a link in a crawl by `learned`: by evidence, and by feature.


PLAIN = {
    "words": "its words",
    "always": "bias",
    "relevance": "relevance of referring pages",
    "share": "share of relevant referring pages",
    "relevant_parents": "number of relevant referring pages",
    "parents": "number of referring pages",
    "since": "irrelevant pages in a row",
    "site_yield": "hit rate of its host and folder",
    "hub_yield": "hit rate of the referring page",
    "list_yield": "hit rate of its list there",
    "prior": "prior of the target",
}
"""Display names of the evidence."""
LEAST = 0.005
"""Smaller contributions to the log odds would be displayed as 0.00."""


@dataclass(frozen=True, slots=True)
class Worth:
    """The score of a link in log odds: contributions by evidence, and those of the evidence `words` by feature.
    `visited`: as of the visit, not as of now. `nameless` is the reason why features have no names, "" if they have."""

    visited: bool
    shares: Mapping[str, float]
    words: Mapping[str, float]
    nameless: str


def learned_lines(folder: CrawlFolder, account: UrlHistory, progress: Progress = silently) -> Iterator[tuple[str, str]]:
    """Pairs of name and value. Empty for other strategies, and for URLs that never waited in the queue as links, such
    as seeds."""
    if account.entry is None or not account.entry.hints:
        return
    try:
        settings = registry.loads(folder.settings() or "", folder.path)
        strategy = settings.crawl.strategy
        if strategy != GIVEN_IN_PYTHON and registry.strategy_named(strategy)[0] == "learned":
            yield from _worth_lines(worth(folder, settings, account, progress))
    except SpoorError as refused:
        yield "log odds", f"unknown, because relearning failed: {refused}"


def worth(folder: CrawlFolder, settings: Config, account: UrlHistory, progress: Progress = silently) -> Worth:
    """The score when the link was selected for its visit, or the current one if it still waits. The model is relearned
    from a snapshot of that time and from the journal."""
    with open_parts(folder) as parts:
        visited = [part for part in parts if pages_of(part.db, account.url)]
        part = visited[0] if visited else owner_of(parts, account.url)
        entry, strategy = account.entry, strategy_of(settings, folder=part.folder)
        scorer = strategy.scorer
        assert entry is not None and isinstance(scorer, Learned)
        earlier = earlier_crawl(settings, strategy, folder)
        _relearn(scorer, part, earlier, account.pages[0] if account.pages else None, progress)
        link = WaitingLink(entry.url, entry.evidence, entry.trail, entry.hints)
        evidence = entry.evidence if account.pages else scorer.review(link)
        names, nameless = _names(parts, scorer, entry)
    said = {names.get(number, f"feature {number}"): share for number, share in scorer.word_shares(entry.hints).items()}
    return Worth(bool(account.pages), scorer.shares(evidence), said, nameless)


def _relearn(
    scorer: Learned, part: Part, earlier: CrawlFolder | None, chosen: PageRow | None, progress: Progress
) -> None:
    """Relearns what was known when the visit `chosen` was selected; None: everything. A snapshot of exactly that time
    is not used, because it may contain more."""
    before = math.inf if chosen is None else chosen.started
    restored = restore([scorer], part.folder.snapshots, part.db, warm_name(earlier, part.db), before)
    if earlier is not None and not restored.knows(scorer):
        with open_parts(earlier) as parts:
            visits = sum(count_lessons(one.db) for one in parts)
            with progress("relearning from visits", visits) as advance:
                for lesson in lessons_in_order([part.db for part in parts]):
                    relearn(scorer, lesson)
                    advance(1)
    _relearn_own(scorer, part.db, restored.number if restored.knows(scorer) else 0, progress, chosen)


def _relearn_own(
    scorer: Learned, db: sqlite3.Connection, after: int, progress: Progress, chosen: PageRow | None
) -> None:
    """Relearns from journal rows after `after` that existed when the visit was selected, and from the lessons of other
    shards by then. A visit that started later cannot have ended by then, even if both have the same time."""
    until, number, before = math.inf, math.inf, math.inf
    if chosen is not None:
        until, number, before = chosen.started, chosen.number, number_of(db, chosen)
    by_own = (
        (place, lesson) for place, lesson in numbered_lessons(db, after, until, before) if lesson.visit.number < number
    )
    by_others = ((place, lesson) for place, lesson in lessons_of_others(db, after) if place < before)
    with progress("relearning from visits", count_lessons(db, after, before)) as advance:
        for _, lesson in heapq.merge(by_own, by_others, key=itemgetter(0)):
            relearn(scorer, lesson)
            advance(1)


def _names(parts: Sequence[Part], scorer: Learned, entry: Entry) -> tuple[dict[int, str], str]:
    """Names of the features, from the archived referring page; otherwise the reason why they are unknown."""
    url = entry.trail[1]
    rows = [(part, row) for part in parts for row in pages_of(part.db, url)]
    if rows and rows[-1][1].warc_file == "":
        return {}, f"{url} was not stored, because [store] keep = 'relevant'"
    page = _page(rows[-1][0].folder, rows[-1][0].db, rows[-1][1]) if rows else None
    if page is None:
        return {}, f"{url} is not in the archive, or no longer readable"
    for link, hints in zip(page.links, scorer.hints(page, page.links) if page.links else (), strict=True):
        if hints == entry.hints:
            return named_features(page, link, scorer.without), ""
    return {}, f"{url} as archived has no such link"


def _page(folder: CrawlFolder, db: sqlite3.Connection, row: PageRow) -> Page | None:
    """Parses the archived page as it was parsed during the crawl."""
    page = archived_page(folder, db, row)
    return None if page is None else with_canonical_links(page)


def _worth_lines(worth: Worth) -> Iterator[tuple[str, str]]:
    when = "when its turn came" if worth.visited else "by the current model"
    shares = {PLAIN[name]: share for name, share in worth.shares.items()}
    yield "log odds", f"{_listed(shares)}; {_signed(sum(worth.shares.values()))} in all, {when}"
    if any(abs(share) >= LEAST for share in worth.words.values()):
        yield "its words", _listed(worth.words) + (f" (no names: {worth.nameless})" if worth.nameless else "")


def _listed(shares: Mapping[str, float]) -> str:
    """Sorted by absolute value, largest first; without those that would be displayed as 0.00."""
    largest = sorted(shares.items(), key=lambda item: -abs(item[1]))
    return ", ".join(f"{name} {_signed(share)}" for name, share in largest if abs(share) >= LEAST)


def _signed(share: float) -> str:
    return f"{share:+.2f}".replace("-", "−")


# Where a URL was found, its score, and its state.


Line = tuple[str, str]
"""Name and value."""


def lines(account: UrlHistory, now: float, moved: Iterable[Line] = ()) -> Iterator[Line]:
    """`moved` are additional lines by the strategy about the link."""
    yield "state", state(account, now)
    if account.shard:
        yield "shard", account.shard
    yield from _found(account)
    if account.entry is not None:
        yield from _worth(account.entry)
    yield from moved
    yield from (("visited", _visited(page)) for page in account.pages)
    yield from (("verdict", _verdict(given)) for given in account.verdicts)
    yield from (_rendered(render) for render in account.renders)
    yield from ((event.kind, _happened(event)) for event in account.events)
    if (blocked := account.blocked) is not None:
        yield "blocked", f"{moment(blocked.at)} by {blocked.who}: {described(blocked.action)}"
    if account.host is not None:
        yield "host", _host(account.host, now)
    if (demoted := account.demoted) is not None:
        yield (
            "host",
            f"its links come after those of all others since {moment(demoted.at)}: {demoted.detail['because']}",
        )
    if account.host is not None:
        yield "robots", _robots(account, now)
    yield from (("similar", url) for url in account.similar)


def state(account: UrlHistory, now: float) -> str:
    if account.entry is not None:
        return _state_of_entry(account, account.entry, now)
    if account.dropped is not None:
        return f"dropped when it was discovered: {account.dropped.because}"
    if account.sent_here:
        return f"never queued: a redirect led here, but {account.sent_here[0][1] or 'it leads elsewhere now'}"
    return "not a page of this crawl" if account.events else "not discovered yet"


def _state_of_entry(account: UrlHistory, entry: Entry, now: float) -> str:
    match entry.state:
        case State.WAITING:
            return f"waiting; {account.ahead:,} links of {entry.host} come first{_held_up(account, now)}"
        case State.RETURNING:
            again = f"to be tried again from {moment(entry.again_at)} on"
            return f"{entry.because}; {again}" if entry.because else f"failed {entry.tries} times, {again}"
        case State.PARKED:
            return f"parked: {entry.because}; {_way_back(entry)}"
        case State.IN_TRANSIT:
            return "in transit: requested, no response yet"
        case State.SETTLED:
            return _settled(account, entry)


def _way_back(entry: Entry) -> str:
    """How a parked link can return."""
    if entry.because.startswith(BLOCKED):
        return "`spoor unblock` readmits it"
    return "given up" if entry.is_given_up else "it may be readmitted with more evidence"


def _settled(account: UrlHistory, entry: Entry) -> str:
    if account.pages:
        return "visited"
    last = account.events[-1].kind if account.events else ""
    if entry.because and last != "failed":
        return f"dropped when its turn came: {entry.because}"
    return {"failed": "given up", "redirected": "visited; the page is elsewhere"}.get(last, "settled")


def _held_up(account: UrlHistory, now: float) -> str:
    """What delays a waiting link."""
    if account.demoted is not None:
        return "; the links of its host come after those of all others"
    delayed = "" if account.host is None else _delayed(account.host, now)
    return delayed or ("; better links on hosts under a delay" if account.outbid and not account.ahead else "")


def _delayed(host: Host, now: float) -> str:
    return f"; its host delay ends at {moment(host.free_at)}" if host.free_at > now else ""


def _found(account: UrlHistory) -> Iterator[Line]:
    entry = account.entry
    if entry is not None and not entry.found_on:
        yield "found", "given as a seed"
    sources = [*account.path]
    if not sources and account.dropped is not None:
        yield "found on", account.dropped.found_on + _handed_over(account)
    for place, step in enumerate(sources):
        how = "found on" if place == 0 else "via"
        yield how, step.url + (" (a seed)" if not step.found_on else "") + ("" if place else _handed_over(account))
    if len(sources) == STEPS_BACK and sources[-1].found_on:
        yield "", "… and so on"
    if account.listed is not None:
        yield "listed", ", ".join(_claims(account.listed))
    yield from (("sent by", url) for url, _ in account.sent_here)


def _handed_over(account: UrlHistory) -> str:
    return f", sent by shard {account.handed_over_by}" if account.handed_over_by else ""


def _claims(listed: Listed) -> Iterator[str]:
    yield "by a sitemap or feed"
    if listed.language:
        yield f"language {listed.language}"
    if listed.date:
        yield f"changed on {listed.date}"


def _worth(entry: Entry) -> Iterator[Line]:
    yield "depth", f"{entry.depth}" + (f", after {entry.redirects} redirects" if entry.redirects else "")
    yield "key", "soonest" if entry.is_seed else " ".join(f"{part:g}" for part in entry.key)
    if entry.evidence:
        yield "evidence", ", ".join(f"{name} {value:g}" for name, value in entry.evidence.items())
    if entry.trail is not None:
        yield "trail", str(entry.trail)


def _visited(page: PageRow) -> str:
    came = f"{moment(page.started)} as visit {page.number}: {page.status}, {size(page.size)}"
    thought = f"{'relevant' if page.relevant else 'not relevant'}, {page.relevance:.2f} because {page.because}"
    unread = "; needs scripts" if page.needs_scripts and not page.because.startswith("needs scripts") else ""
    twin = f"; duplicate of {page.duplicate_of}" if page.duplicate_of else ""
    title = f"; “{page.title}”" if page.title else ""
    return f"{came}; {thought}{unread}{twin}{title}"


def _verdict(given: Given) -> str:
    said = f"{'relevant' if given.verdict.relevant else 'not relevant'}, {given.verdict.relevance:.2f}"
    return f"{moment(given.at)} by {given.who or 'the judge'}: {said} because {given.verdict.because}"


def _rendered(render: RenderRow) -> Line:
    if not render.rendered:
        return "not rendered", render.how
    gained = "gained text or links" if render.gained else "gained nothing"
    return "rendered", f"{moment(render.fetched)}: {render.how} after {render.seconds:.1f} s in a browser; {gained}"


def _happened(event: EventRow) -> str:
    detail, at = event.detail, moment(event.at)
    match event.kind:
        case "redirected":
            how = f", not followed: {detail['because']}" if detail["because"] else ""
            return f"{at} to {detail['to']}" + (", once more with its cookies" if detail.get("again") else how)
        case "failed":
            again = detail["again_at"]
            return f"{at}: {detail['reason']}; " + ("given up" if again is None else f"again from {moment(again)} on")
        case "excused":
            return f"{at}: a visit does not count: {detail['because']}"
        case "held":
            return f"{at}: it blocked the event loop for {detail['seconds']:.1f} s"
        case "trouble":
            return f"{at}: {detail['reason']}; a sample was saved"
        case "steered":
            said = {True: "relevant", False: "not relevant"}.get(detail["relevant"], "no longer marked")
            return f"{at} by {detail['who']}: {said}"
        case "host opened":
            return f"{at}, {detail['delay']:g} s between visits"
        case "sitemap read":
            end = f"; {detail['cut']}" if detail["cut"] else ""
            return f"{at}: {detail['listed']:,} URLs listed, {detail['added']:,} let in{end}"
        case _:
            return f"{at}: {detail['because']}" + (" (parked)" if detail["parked"] else "")


def _host(host: Host, now: float) -> str:
    where = f" at {host.address}" if host.address else ""
    return f"{host.name}{where}: {host.delay:g} s between visits{_delayed(host, now)}"


def _robots(account: UrlHistory, now: float) -> str:
    file = account.robots
    if isinstance(file, NeededFile):
        return f"{file.url} must be read first" if file.url != robots_url(account.url) else "not read yet"
    where = file.url if file is not None and file.url != robots_url(account.url) else "robots.txt"
    if file is not None and file.failed:
        again = f", asked for again from {moment(file.until)} on" if file.may_heal else ""
        return f"{where} could not be fetched ({file.failed}), so nothing is fetched{again}"
    says = (
        f"{where} {'allows' if account.allowed else 'disallows'} it"
        if account.has_rules
        else _nothing(account.url, where)
    )
    return says + ("; it has expired and will be fetched again" if file is not None and now >= file.until else "")


def _nothing(url: str, where: str) -> str:
    return f"{origin_of(url)} has no rules" if where == "robots.txt" else f"{where} has no rules"
