"""The world over a web on disk: what a visit finds there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from spoor.records import Failure, Link, Outcome, Page, Redirect, RobotsRules, Visit
from spoor.webs.web import TEXTS, Web


@dataclass(frozen=True)
class RecordedWorld:
    """`relevant` says of each page whether it is wanted. `with_content` loads texts and link contexts, which costs time
    that strategies looking at attributes only need not spend. The world is closed: links that lead out of the web are
    left out, unless `open_ended`, when a visit to one fails."""

    web: Web
    relevant: NDArray[np.bool_]
    with_content: bool = False
    open_ended: bool = False
    _numbers: dict[str, int] = field(default_factory=dict, repr=False)
    _links: dict[int, Link] = field(default_factory=dict, repr=False)

    def look(self, visit: Visit) -> tuple[Outcome, float]:
        """Takes the time that was recorded, or none; `Network` adds what a recording lacks."""
        if visit.purpose == "robots":
            return RobotsRules(), 0.0
        number = self.number(visit.url)
        if number is None or number >= self.web.pages:
            return Failure("not recorded"), 0.0
        seconds = self.web.seconds
        return self._outcome(number), 0.0 if seconds is None else float(seconds[number])

    def truth(self, url: str) -> bool:
        number = self.number(url)
        return number is not None and number < self.web.pages and bool(self.relevant[number])

    def number(self, url: str) -> int | None:
        """The page number of a URL; None: the web has never heard of it."""
        number = self._numbers.get(url)
        if number is None and (number := self.web.urls.find(url)) is not None:
            self._numbers[url] = number
        return number

    def _outcome(self, number: int) -> Outcome:
        redirects = self.web.redirects
        if redirects is not None and (to := int(redirects[number])) >= 0:
            return Redirect(self._link(to).url, int(self.web.array("status")[number]))
        page = self.web.page(number)
        if not 200 <= page.status < 300:
            return Failure(f"HTTP {page.status}" if page.status else "no answer")
        return self._with_links(number, page)

    def _with_links(self, number: int, page: Page) -> Page:
        targets = self.web.targets(number)
        held = range(len(targets)) if self.open_ended else [i for i, t in enumerate(targets) if t < self.web.pages]
        links = tuple([self._link(targets[index]) for index in held])
        left_out = len(targets) - len(links)
        if not (self.with_content and self.web.has_content):
            return replace(page, links=links, unrecorded=left_out)
        contexts = self.web.contexts[number] or [()] * len(targets)
        links = tuple(Link(link.url, *contexts[index]) for link, index in zip(links, held, strict=True))
        texts = dict(zip(TEXTS, self.web.texts[number] or (), strict=False))
        return replace(page, links=links, unrecorded=left_out, **texts)

    def _link(self, number: int) -> Link:
        """A link without context is the same from everywhere, so each is made once."""
        link = self._links.get(number)
        if link is None:
            url = self.web.urls[number]
            link = self._links[number] = Link(url)
            self._numbers[url] = number
        return link
