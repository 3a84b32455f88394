"""`spoor why`: where one URL was found, what it is worth, and why it was fetched, not yet, or never."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from spoor.cli import why_learned
from spoor.cli.command import Commands, add_command
from spoor.errors import UsageError
from spoor.frontier.entry import Entry, State
from spoor.frontier.host import Host
from spoor.report.showing import moment, plain, size
from spoor.report.why import STEPS_BACK, Account, account
from spoor.robots_files import Wanted
from spoor.session import AGENT
from spoor.store.crawl_folder import open_for_reading
from spoor.store.journal import EventRow, PageRow
from spoor.urls import normalise, origin_of, robots_url

EXAMPLES = """
spoor why my-crawl https://example.org/about
"""

Line = tuple[str, str]
"""What is told, and what there is to tell of it."""


def register(commands: Commands) -> None:
    parser = add_command(commands, "why", "say why a URL was fetched, not yet, or never", EXAMPLES, run)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of a crawl; it may be running")
    parser.add_argument("url", metavar="URL", help="the URL in question")


def run(arguments: argparse.Namespace) -> int:
    folder = open_for_reading(arguments.folder)
    url = normalise(arguments.url)
    if url is None:
        raise UsageError(f"{plain(arguments.url)!r} is not an http or https URL, such as https://example.org/about")
    told = account(folder, url, AGENT)
    print(plain(told.url, 4000))
    for name, what in lines(told, time.time(), why_learned.lines(folder, told)):
        print(f"  {name:<11} {plain(what, 4000)}")
    return 0


def lines(told: Account, now: float, moved: Iterable[Line] = ()) -> Iterator[Line]:
    """`moved` is what the strategy itself has to say of the link."""
    yield "state", state(told, now)
    yield from _found(told)
    if told.entry is not None:
        yield from _worth(told.entry)
    yield from moved
    yield from (("visited", _visited(page)) for page in told.pages)
    yield from ((event.kind, _happened(event)) for event in told.events)
    if told.host is not None:
        yield "host", _host(told.host, now)
        yield "robots", _robots(told, now)
    yield from (("similar", url) for url in told.similar)


def state(told: Account, now: float) -> str:
    if told.entry is not None:
        return _state_of_entry(told, told.entry, now)
    if told.dropped is not None:
        return f"dropped when it was met: {told.dropped.because}"
    if told.sent_here:
        return f"never queued: a redirect led here, but {told.sent_here[0][1] or 'it leads elsewhere now'}"
    return "not a page of this crawl" if told.events else "not met yet"


def _state_of_entry(told: Account, entry: Entry, now: float) -> str:
    match entry.state:
        case State.WAITING:
            return f"waiting; {told.ahead:,} links of {entry.host} come first{_held_up(told, now)}"
        case State.RETURNING:
            again = f"to be tried again from {moment(entry.again_at)} on"
            return f"{entry.because}; {again}" if entry.because else f"failed {entry.tries} times, {again}"
        case State.PARKED:
            return f"parked: {entry.because}; " + (
                "given up" if entry.is_given_up else "it may come back when more is known"
            )
        case State.IN_TRANSIT:
            return "on its way: asked for, and nothing came back yet"
        case State.SETTLED:
            return _settled(told, entry)


def _settled(told: Account, entry: Entry) -> str:
    if told.pages:
        return "visited"
    if entry.because:
        return f"dropped when its turn came: {entry.because}"
    last = told.events[-1].kind if told.events else ""
    return {"failed": "given up", "redirected": "visited; the page is elsewhere"}.get(last, "settled")


def _held_up(told: Account, now: float) -> str:
    """What a link that could be fetched waits for."""
    rests = "" if told.host is None else _resting(told.host, now)
    return rests or ("; better links on resting hosts" if told.outbid and not told.ahead else "")


def _resting(host: Host, now: float) -> str:
    return f"; the host rests until {moment(host.free_at)}" if host.free_at > now else ""


def _found(told: Account) -> Iterator[Line]:
    entry = told.entry
    if entry is not None and not entry.found_on:
        yield "found", "given as a seed"
    sources = [*told.path]
    if not sources and told.dropped is not None:
        yield "found on", told.dropped.found_on
    for place, step in enumerate(sources):
        how = "found on" if place == 0 else "itself on"
        yield how, step.url + (" (a seed)" if not step.found_on else "")
    if len(sources) == STEPS_BACK and sources[-1].found_on:
        yield "", "… and so on"
    yield from (("sent by", url) for url, _ in told.sent_here)


def _worth(entry: Entry) -> Iterator[Line]:
    yield "depth", f"{entry.depth}" + (f", after {entry.redirects} redirects" if entry.redirects else "")
    yield "key", "soonest" if entry.is_seed else " ".join(f"{part:g}" for part in entry.key)
    if entry.evidence:
        yield "evidence", ", ".join(f"{name} {value:g}" for name, value in entry.evidence.items())
    if entry.trail is not None:
        yield "trail", str(entry.trail)


def _visited(page: PageRow) -> str:
    came = f"{moment(page.started)} as visit {page.number}: {page.status}, {size(page.size)}"
    thought = f"{'wanted' if page.relevant else 'not wanted'}, {page.relevance:.2f} because {page.because}"
    twin = f"; like {page.duplicate_of}" if page.duplicate_of else ""
    title = f"; “{page.title}”" if page.title else ""
    return f"{came}; {thought}{twin}{title}"


def _happened(event: EventRow) -> str:
    detail, at = event.detail, moment(event.at)
    match event.kind:
        case "redirected":
            return f"{at} to {detail['to']}" + (f", not followed: {detail['because']}" if detail["because"] else "")
        case "failed":
            again = detail["again_at"]
            return f"{at}: {detail['reason']}; " + ("given up" if again is None else f"again from {moment(again)} on")
        case "held":
            return f"{at}: everything else waited for {detail['seconds']:.1f} s while it was worked on"
        case "trouble":
            return f"{at}: {detail['reason']}; a sample was saved"
        case "host opened":
            return f"{at}, {detail['rest']:g} s between visits"
        case _:
            return f"{at}: {detail['because']}" + (" (parked)" if detail["parked"] else "")


def _host(host: Host, now: float) -> str:
    where = f" at {host.address}" if host.address else ""
    return f"{host.name}{where}: {host.rest:g} s between visits{_resting(host, now)}"


def _robots(told: Account, now: float) -> str:
    file = told.robots
    if isinstance(file, Wanted):
        return f"{file.url} must be read first" if file.url != robots_url(told.url) else "not read yet"
    where = file.url if file is not None and file.url != robots_url(told.url) else "robots.txt"
    if file is not None and file.failed:
        again = f", asked for again from {moment(file.until)} on" if file.may_heal else ""
        return f"{where} could not be had ({file.failed}), so nothing is fetched{again}"
    says = f"{where} {'allows' if told.allowed else 'disallows'} it" if told.has_rules else _nothing(told.url, where)
    return says + ("; it is old and will be read again" if file is not None and now >= file.until else "")


def _nothing(url: str, where: str) -> str:
    return f"{origin_of(url)} has no rules" if where == "robots.txt" else f"{where} holds no rules"
