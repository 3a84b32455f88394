"""Records passed through a crawl. All are immutable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

Evidence = Mapping[str, float]
"""Named numbers about a link, from which its key is computed. A scorer gives every link the same names."""

Key = tuple[float, ...]
"""The priority in the queue: larger is sooner, compared element by element. All keys of a scorer have the same
length."""

SOONEST: Key = (float("inf"),)
"""The key of seeds."""

TrailState = Any
"""The state carried along a path: None, numbers, strings and tuples of these, so that it can be stored."""


Hints = tuple[float, ...] | bytes
"""Values that a scorer read from a link, in an order of its own; packed as bytes if they are stored while the link
waits."""


@dataclass(frozen=True, slots=True)
class TargetPrior:
    """What the judge knows of the target before the first visit: the language, as a BCP-47 tag or the path of a model,
    and words of the topic."""

    language: str = ""
    words: tuple[str, ...] = ()


class Link(NamedTuple):
    """A link as found on a page; a tuple, because there are many. `left` and `right` are the words around the anchor,
    `hreflang` the language that the page claims for the target, `rel` the link relation. `path` names the enclosing
    elements, `html/body/ul/li`; `navigation` is True for links among other links, outside running text. `hints` are set
    once a `LinkReader` has read the link."""

    url: str
    anchor: str = ""
    left: str = ""
    right: str = ""
    heading: str = ""
    nofollow: bool = False
    hreflang: str = ""
    rel: str = ""
    path: str = ""
    navigation: bool = False
    hints: Hints = ()


class LinkContexts(Protocol):
    """The anchors and contexts of the links of a page, read when they are asked for: most links are known already and
    gain nothing by theirs."""

    def of(self, links: Sequence[Link]) -> list[Link]:
        """These links of the page with anchors and contexts; those not found in its markup as they are."""
        ...

    def anchors_of(self, links: Sequence[Link]) -> list[tuple[str, str]]:
        """Only the anchor of each link, and the language that the page claims for it."""
        ...

    def renamed(self, names: Mapping[str, str]) -> LinkContexts:
        """The same for links that have other URLs now. `names` maps each to the one on the page."""
        ...


@dataclass(frozen=True, slots=True)
class Visit:
    """A decision to fetch one URL; in transit until settled.

    `number` counts visits from 0, `at` is the time of the decision (seconds), `tries` the number of earlier attempts,
    `redirects` the number of consecutive redirects that led here. `hints` are those of the link, if the scorer
    re-scores links. `apart`: an earlier attempt failed with an error of spoor, so the URL is processed in isolation.
    `etag` and `modified` are the validators of a known robots.txt, for a conditional request.
    """

    url: str
    host: str
    number: int
    at: float
    purpose: Literal["page", "robots", "sitemap"] = "page"
    key: Key = SOONEST
    evidence: Evidence = field(default_factory=dict)
    trail: TrailState = None
    depth: int = 0
    tries: int = 0
    found_on: str = ""
    redirects: int = 0
    hints: bytes = b""
    apart: bool = False
    etag: str = ""
    modified: str = ""


class WaitingLink(NamedTuple):
    """A waiting or parked link with its data; a tuple, because there are many."""

    url: str
    evidence: Evidence
    trail: TrailState
    hints: bytes


@dataclass(frozen=True, slots=True)
class Response:
    """The response to one request, not yet parsed.

    `request` and `head` are the raw bytes of the request and of the status line and headers; `headers` has lower-case
    names, and the first value of each. `body` is free of transfer and content encoding, `payload` of transfer encoding
    only. `cut` is the reason why the body is truncated, "" if it is complete. Times in seconds; `address` is the IP
    address, "" behind a proxy. `rendering` is set once the scripts have run.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    payload: bytes
    request: bytes
    head: bytes
    address: str
    at: float
    seconds: float
    cut: str = ""
    rendering: Rendering | None = None


@dataclass(frozen=True, slots=True)
class SubRequest:
    """A request that a page makes while its scripts run. Header names are in lower case; `page` is the URL of the page,
    `kind` the resource type, such as script."""

    url: str
    method: str
    headers: Mapping[str, str]
    page: str
    kind: str = ""


class SentRequest(NamedTuple):
    """A request for a sub-resource that was sent, and its result: the status, or why there was no response. Times in
    seconds."""

    url: str
    began: float
    ended: float
    result: str


@dataclass(frozen=True, slots=True)
class Rendering:
    """The result of running the scripts of a page, or why they were not run.

    `how` is "settled", or what ended the rendering, or why it did not begin. `fetched` is the time of the response,
    `seconds` how long a tab was busy, 0 if none was. `html` is the final DOM, "" once it was parsed; `links` are the
    URLs in it and those known only to scripts. `gained`: it has text or links that the response does not have. `file`
    and `offset` locate the DOM in the archive, None if it is not archived.
    """

    how: str
    fetched: float
    seconds: float = 0.0
    html: str = ""
    links: tuple[str, ...] = ()
    requests: tuple[SentRequest, ...] = ()
    gained: bool = False
    file: str | None = None
    offset: int | None = None

    @property
    def began(self) -> bool:
        """Whether a browser was used."""
        return self.seconds > 0.0


@dataclass(frozen=True, slots=True)
class TextFingerprint:
    """Identifies a text for duplicate detection: a SimHash fingerprint of 64 bits as a signed number (None if the text
    is too short), and hashes of a sample of its passages, 8 bytes each."""

    fingerprint: int | None
    passages: bytes


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed response. Charsets are WHATWG labels in lower case, "" if not given.

    `links` has distinct targets in document order; `unrecorded` counts links left out: a simulated web does not contain
    them, or they can gain nothing. `canonical` is the canonical URL that the page names, "" if none; `noindex`: it asks
    not to be indexed; `language` is its `lang` attribute. A page of a web without content has empty texts and links
    without context. `main_text` is the text without boilerplate, "" if not extracted; `published` a date such as
    2026-11-15, "" if not known; `text_fingerprint` None if not computed. `duplicate_of` is the URL of an earlier page
    of which this is a duplicate or near-duplicate, "" if there is none or it was not checked. `feeds` are the URLs of
    RSS and Atom feeds that it names. `needs_scripts`: it has hardly any text and links, but scripts that were not run;
    `rendering` is the result of running them, None if that was not considered. `forwards_to` is the URL to which a page
    without content redirects a browser, "" for other pages. `contexts` is None if the links have theirs, or are to have
    none.
    """

    url: str
    status: int = 200
    content_type: str = "text/html"
    header_charset: str = ""
    meta_charset: str = ""
    detected_charset: str = ""
    size: int = 0
    title: str = ""
    text: str = ""
    tag_texts: Mapping[str, str] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    unrecorded: int = 0
    canonical: str = ""
    noindex: bool = False
    language: str = ""
    main_text: str = ""
    published: str = ""
    text_fingerprint: TextFingerprint | None = None
    duplicate_of: str = ""
    feeds: tuple[str, ...] = ()
    needs_scripts: bool = False
    forwards_to: str = ""
    rendering: Rendering | None = None
    contexts: LinkContexts | None = field(default=None, compare=False, repr=False)

    @property
    def out_degree(self) -> int:
        return len(self.links) + self.unrecorded

    @property
    def best_text(self) -> str:
        """The text that topic judges read: the main text, or the whole text if that was not extracted."""
        return self.main_text or self.text

    @property
    def titled_text(self) -> str:
        """The title and `best_text`."""
        return f"{self.title}\n{self.best_text}"


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirect. `address` is the IP address of the server, for a robots.txt. `again`: the target is fetched again
    even if it was visited already, because the response may differ now."""

    to: str
    status: int = 301
    address: str = ""
    again: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """No page came. `again_after` is the time in seconds before a retry; None if there is no retry. `whole_host`: the
    server asks for a pause for the whole host, not only for this page. `unanswered`: the host sent nothing at all, so
    the cause may be on our side; `here`: it certainly is. `excused`: the visit is made again as if it had not been
    made, and nothing is wrong with host or network. `certificate`: that of the host was not accepted; what may be at
    fault, besides the host."""

    reason: str
    again_after: float | None = None
    whole_host: bool = False
    unanswered: bool = False
    here: bool = False
    excused: bool = False
    certificate: Literal["", "the host alone", "clock or CA store"] = ""


@dataclass(frozen=True, slots=True)
class Trouble:
    """No page came because of an error of spoor: a one-line message for an exception while the URL was processed.
    `trace` is its traceback if it was requested then: no response is at fault, and it may befall every request."""

    reason: str
    trace: str = ""


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The text of the robots.txt of a host, "" if it has none. `address` is the IP address it came from, "" if there is
    none. `whole_host`: valid for http and https alike, which only simulated hosts guarantee. `etag` and `modified` are
    its validators, "" if not sent. `unchanged`: the text is the stored one (304)."""

    text: str = ""
    address: str = ""
    whole_host: bool = False
    etag: str = ""
    modified: str = ""
    unchanged: bool = False


class Listed(NamedTuple):
    """An entry of a sitemap or feed: the URL of a page, its language as a tag, and the date of its last change or
    publication, such as 2026-11-15; "" if not given."""

    url: str
    language: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class SitemapFile:
    """A sitemap or a feed. `listed` are pages, or other sitemaps if it is an index: an evenly spread sample of the
    `count` URLs read. `cut` is the reason why it is incomplete, "" if it was read to its end."""

    kind: str
    listed: tuple[Listed, ...]
    count: int
    cut: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a judge: relevance 0..1, the decision that follows, and a human-readable reason."""

    relevance: float
    relevant: bool
    because: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A page to be labelled by a teacher. `text` is the main text; `words` are those by which the judge decided,
    highest weight first; `relevance` is that of the judge, 0..1."""

    url: str
    title: str
    text: str
    words: tuple[str, ...] = ()
    relevance: float = 0.5


@dataclass(frozen=True, slots=True)
class Judged:
    """A page that was judged where it was parsed; if that was a worker process, its links have their hints. `language`
    is the detected one, a BCP-47 tag or "" if not known; `seconds` is the time the judge took."""

    page: Page
    verdict: Verdict
    language: str = ""
    seconds: float = field(default=0.0, compare=False)


Outcome = Page | Judged | Redirect | Failure | Trouble | RobotsRules | SitemapFile


@dataclass(frozen=True, slots=True)
class Sighting:
    """A visited and judged page: the context of its links.

    `trail` is the state that its links carry, already advanced by this page.
    """

    visit: Visit
    page: Page
    verdict: Verdict
    trail: TrailState

    @property
    def is_find(self) -> bool:
        """Relevant, and not a duplicate of an earlier page of the crawl."""
        return self.verdict.relevant and not self.page.duplicate_of


@dataclass(frozen=True, slots=True)
class Handed:
    """A link on its way to the shard of its host, with the evidence from the page it was found on.

    `sighting` is that page, made by `sighting_elsewhere`: one for all links of a page. `redirects` are those of the
    link itself. `is_seed`: it is queued before everything else. `again`: it is fetched again even if it was visited
    already.
    """

    link: Link
    evidence: Evidence
    sighting: Sighting
    redirects: int = 0
    is_seed: bool = False
    again: bool = False

    @property
    def depth(self) -> int:
        """Of the link itself."""
        return self.sighting.visit.depth + 1

    @property
    def found_on(self) -> str:
        return self.sighting.visit.url

    @property
    def trail(self) -> TrailState:
        return self.sighting.trail


def sighting_elsewhere(
    url: str, depth: int, trail: TrailState, relevance: float = 0.0, relevant: bool = False
) -> Sighting:
    """A page as other shards see it: without texts and links."""
    return Sighting(Visit(url, "", 0, 0.0, depth=depth), Page(url), Verdict(relevance, relevant, ""), trail)


@dataclass(frozen=True, slots=True)
class Miss:
    """A link that was selected but brought no page: its fetch failed, it redirects to a known URL, or robots.txt
    disallows it."""

    visit: Visit
    because: str


Lesson = Sighting | Miss
"""The outcome of a visit, from which learners learn."""

Mailed = Handed | Lesson
"""A message from one shard of a crawl to another. The page of a lesson has its URL and status, but no texts and no
links."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision of an admission on a link. A parked link may be admitted later; a dropped one is forgotten."""

    decision: Literal["admit", "park", "drop"]
    because: str = ""


ADMIT = Ruling("admit")
