"""Whether a link may be fetched, by the robots.txt of its origin. That is fetched first, with the same host delays."""

from __future__ import annotations

import math

from spoor.crawling.guidance import Guidance
from spoor.errors import BrokenContract
from spoor.events import Event, Failed, HostOpened, Redirected
from spoor.frontier.entry import DIED, Entry
from spoor.frontier.frontier import LATER, Frontier
from spoor.pricing import Limits
from spoor.records import ADMIT, Failure, Outcome, Redirect, RobotsRules, Ruling, Visit
from spoor.robots import NeededFile, RobotsFile, RulesCache
from spoor.urls import host_of, robots_url

DISALLOWED = Ruling("drop", "robots.txt disallows it")
FIRST_WAIT, LONGEST_WAIT = 60.0, 3600.0
"""Seconds before a robots.txt that could not be fetched is requested again: doubled each time, longer if the server
asks for that."""
SURE = 2
"""Failed tries after which a host is taken not to exist; a faulty name server may report that, too."""
CERTAIN = 4
"""Failed tries, over some minutes, after which a certificate is invalid for good, as those of others are accepted."""
GIVEN_UP = 86_400.0
"""Seconds before the next try, after the last try in a row."""


class Access:
    """Without a robots.txt nothing is fetched (RFC 9309, 2.3.1.4): links wait for it, for hours; then they are
    postponed for a day, and the crawl does not wait for them."""

    def __init__(self, frontier: Frontier, limits: Limits, guidance: Guidance) -> None:
        self._frontier = frontier
        self._guidance = guidance
        self._limits = limits
        self._rules = RulesCache(limits.agent, frontier.robots_text)

    def next_visit(self, now: float) -> Visit | None:
        """A visit to a robots.txt that is needed, on a host that is free; None if there is none."""
        errand = self._frontier.next_robots_request(now)
        if errand is None:
            return None
        url, tries = errand
        known = self._frontier.robots_file(url) or RobotsFile(url, now)
        return Visit(
            url,
            host_of(url),
            self._frontier.visits,
            now,
            "robots",
            tries=tries,
            etag=known.etag,
            modified=known.modified,
        )

    def ruling(self, entry: Entry, now: float) -> Ruling | None:
        """The ruling on the link at the front of the queue. None if it is not known yet, so that another host must be
        selected."""
        file = self._frontier.robots_for(entry.url, now)
        if file is None:
            return ADMIT
        if isinstance(file, NeededFile):
            self._ask(file, entry.host, now)
            return None
        if file.failed:
            return self._without_rules(file, entry, now)
        if not self._frontier.keeps_delay(entry.host, now):
            return None
        return ADMIT if self._rules.rules(file.url).allow(entry.url) else DISALLOWED

    def turn_of(self, url: str, now: float) -> Ruling | Visit | float:
        """For a request by scripts. Admitted: send it now; its host is busy until it ends. Dropped: never. A visit:
        fetch this robots.txt first. A number: ask again at that time."""
        if because := self._guidance.blocks(url):
            return Ruling("drop", because)
        host, file = host_of(url), self._frontier.robots_for(url, now)
        if isinstance(file, NeededFile):
            self._ask(file, host, now)
            return self.next_visit(now) or now
        if file is not None and file.failed:
            return Ruling("drop", f"no robots.txt: {file.failed}")
        if file is not None and not self._rules.rules(file.url).allow(url):
            return DISALLOWED
        if self._frontier.keeps_delay(host, now) and self._frontier.begin_request(url, now):
            return ADMIT
        return self._frontier.free_at(host, now)

    def sitemaps(self, url: str) -> tuple[str, ...]:
        """The sitemaps named in the last known robots.txt of a page."""
        file = self._frontier.robots_for(url, -math.inf)
        return self._rules.rules(file.url).sitemaps if isinstance(file, RobotsFile) and not file.failed else ()

    def _ask(self, needed: NeededFile, host: str, now: float) -> None:
        failed_because = self._guidance.blocks(needed.url)
        if needed.under and not self._rules.rules(needed.under).allow(needed.url):
            failed_because = "the robots.txt of its own host disallows it"
        if not failed_because:
            self._frontier.want(needed.url, host, now)
            return
        self._frontier.keep_robots(
            RobotsFile(
                needed.url, now + GIVEN_UP, failed=failed_because, may_heal=True, tries=self._limits.robots_tries
            )
        )

    def _without_rules(self, file: RobotsFile, entry: Entry, now: float) -> Ruling | None:
        own = robots_url(entry.url)
        if file.url == own and not file.may_heal:
            return Ruling("drop", file.failed)
        if file.tries < self._limits.robots_tries:
            self._frontier.delay_until(entry.host, now, file.until)
        else:
            where = "" if file.url == own else f" of {file.url}"
            self._frontier.postpone(entry, f"no robots.txt{where}: {file.failed}", file.until, now)
        return None

    def take_in(self, visit: Visit, outcome: Outcome, now: float, waiting: int) -> Event:
        """Processes the outcome of a visit to a robots.txt. `waiting` is the length of the queue."""
        rules_last = self._frontier.rules.rules_last
        match outcome:
            case RobotsRules(unchanged=True) if not self._is_known(visit):
                return self.take_in(visit, Failure("HTTP 304 for another robots.txt", FIRST_WAIT), now, waiting)
            case RobotsRules(text, address):
                text = self._frontier.robots_text(visit.url) if outcome.unchanged else text
                delay = self._rules.read(visit.url, text).delay or 0.0
                file = RobotsFile(visit.url, now + rules_last, delay, etag=outcome.etag, modified=outcome.modified)
                if outcome.whole_host:
                    self._frontier.keep_robots(RobotsFile(_other_scheme(visit.url), file.until, leads_to=visit.url))
                return HostOpened(visit, now, self._frontier.answer(file, now, text, address))
            case Redirect(to, _, address):
                self._rules.read(visit.url, "")
                self._frontier.answer(RobotsFile(visit.url, now + rules_last, leads_to=to), now, address=address)
                return Redirected(visit, now, to, "", waiting)
            case Failure() as failure:
                return self.fail(visit, failure, now, waiting)
        raise BrokenContract(f"{visit.url} is a robots.txt, but the outcome is a {type(outcome).__name__}")

    def _is_known(self, visit: Visit) -> bool:
        """Whether the stored file is still the one that the conditional request was for."""
        known = self._frontier.robots_file(visit.url)
        return known is not None and (known.etag, known.modified) == (visit.etag, visit.modified)

    def blame(self, url: str, now: float) -> None:
        """If the URL is a robots.txt, the process died while working on it: it is requested again later, after the
        second death in a row not before a day."""
        if url != robots_url(url):
            return
        known = self._frontier.robots_file(url)
        again = known is not None and known.failed == DIED
        until, tries = (GIVEN_UP, self._limits.robots_tries) if again else (LATER, 1)
        self._frontier.keep_robots(RobotsFile(url, now + until, failed=DIED, may_heal=True, tries=tries))

    def forget(self, url: str, now: float) -> None:
        """A robots.txt could not be fetched because of an outage on our side: it is requested again."""
        self._frontier.keep_robots(RobotsFile(url, now))

    def ask_again(self, url: str) -> None:
        """If the robots.txt of a link could not be fetched, it is requested again before the link."""
        file = self._frontier.robots_for(url, 0.0)
        if isinstance(file, RobotsFile) and file.failed:
            self._frontier.keep_robots(RobotsFile(file.url, 0.0))

    def fail(self, visit: Visit, failure: Failure, now: float, waiting: int) -> Failed:
        """Processes a visit to a robots.txt that failed. It is requested again, unless the host itself will not
        change."""
        tries = visit.tries + 1
        heals = failure.again_after is not None or (failure.unanswered and tries < SURE)
        heals = heals and not (failure.certificate and tries >= CERTAIN)
        asked = failure.again_after or FIRST_WAIT
        wait = max(asked, min(asked * 2.0**visit.tries, LONGEST_WAIT))
        until = now + (wait if tries < self._limits.robots_tries else max(wait, GIVEN_UP))
        if failure.whole_host:
            self._frontier.delay_until(visit.host, now, now + wait)
        self._frontier.answer(RobotsFile(visit.url, until, failed=failure.reason, may_heal=heals, tries=tries), now)
        return Failed(visit, now, failure.reason, until if heals else None, waiting)


def _other_scheme(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    return ("https" if scheme == "http" else "http") + separator + rest
