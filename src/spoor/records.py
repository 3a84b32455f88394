"""Facts that travel through a crawl. All frozen: what was said or seen does not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Evidence = Mapping[str, float]
"""What is known in favour of a link, by name. A scorer gives every link the same names."""

Key = tuple[float, ...]
"""The place in the queue: larger is sooner, compared part by part. One scorer, one length."""

SOONEST: Key = (float("inf"),)
"""The key of seeds."""

TrailState = Any
"""What a path remembers; made of None, numbers, strings and tuples of them, so that it can be stored."""


Hints = tuple[float, ...] | bytes
"""What a scorer read off a link, in an order of its own; packed, if it is to stay with the link while it waits."""


@dataclass(frozen=True, slots=True)
class TargetPrior:
    """What is known of the target before the first visit: the language, as a BCP-47 tag or the path of a model, and
    words of the topic."""

    language: str = ""
    words: tuple[str, ...] = ()


class Link(NamedTuple):
    """What a page says about another page; a tuple, because there are many. `left` and `right` are the words around
    the anchor, `hreflang` the language that the page claims for the target, `rel` what it says of their relation.
    `path` names the elements around the link, `html/body/ul/li`; `navigation` is True where links stand among links,
    not in a text. `hints` are there once a `LinkReader` has read the link."""

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


@dataclass(frozen=True, slots=True)
class Visit:
    """A decision to fetch one URL; in transit until settled.

    `number` counts visits from 0, `at` is when the decision was taken (seconds), `tries` how often it was tried before,
    `redirects` how many redirects in a row led here. `hints` are those of the link, where a scorer reviews links.
    `apart`: something went wrong when this URL was worked on before, so nothing else is done together with it. `etag`
    and `modified` are those of a robots.txt that is known already, so that it is sent only if it has changed.
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
    """A link that waits or is parked, and what is known of it; a tuple, because there are many."""

    url: str
    evidence: Evidence
    trail: TrailState
    hints: bytes


@dataclass(frozen=True, slots=True)
class Response:
    """What a server sent for one request, before anybody has understood it.

    `request` and `head` are the bytes of the request and of the answer's status line and headers, as sent; `headers`
    has names in lower case, the first of each. `body` is free of transfer and content encoding, `payload` of transfer
    encoding only. `cut` says why the body is not whole, "" when it is. Times in seconds; `address` is the IP address,
    "" when a proxy stands between. `rendering` is there once its scripts have run.
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
    """What a page asks for while its scripts run. Header names are in lower case; `page` is the URL of the page, `kind`
    what the request is for, such as script."""

    url: str
    method: str
    headers: Mapping[str, str]
    page: str
    kind: str = ""


class SentRequest(NamedTuple):
    """A request for a sub-resource that was sent, and what came: the status, or why nothing did. Times in seconds."""

    url: str
    began: float
    ended: float
    result: str


@dataclass(frozen=True, slots=True)
class Rendering:
    """What running the scripts of a page brought, or why they were not run.

    `how` is "settled", or what ended it, or why it was not begun. `fetched` is when the response had come, `seconds`
    how long a tab was busy, 0 when none was. `html` is the final tree, "" once it was read; `links` the addresses in it
    and those that only scripts know. `gained`: text or links came that the response did not have. `file` and `offset`
    say where the tree is in the archive, None when it is not.
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
        """Whether a browser tried."""
        return self.seconds > 0.0


@dataclass(frozen=True, slots=True)
class TextFingerprint:
    """What makes a text recognisable: 64 bits that similar texts nearly share, as a signed number (None: too short to
    say), and hashes of a sample of its passages, 8 bytes each."""

    fingerprint: int | None
    passages: bytes


@dataclass(frozen=True, slots=True)
class Page:
    """What was understood of a response. Charsets are WHATWG labels in lower case, "" when not given.

    `links` holds distinct targets in document order; `unrecorded` counts those left out because a simulated web does
    not hold them. `canonical` is the URL that the page calls its own, "" when it names none; `noindex` that it
    asks not to be indexed; `language` what its `lang` attribute claims. A page of a web that keeps no content has empty
    texts and links without context. `main_text` is the text without what surrounds it, "" where nobody looked for it;
    `published` a date such as 2026-11-15, "" when it is not known; `text_fingerprint` None where none was made.
    `duplicate_of` is the URL of a page fetched before of which it is a duplicate or near-duplicate, "" when there is
    none or nobody compared. `feeds` are the URLs of RSS and Atom feeds that it names.
    `needs_scripts`: it has hardly any text and links, but scripts that were not run; `rendering` is what running them
    brought, None where nobody thought of it.
    `forwards_to` is the URL to which a page without content sends a browser, "" for any other.
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

    @property
    def out_degree(self) -> int:
        return len(self.links) + self.unrecorded

    @property
    def best_text(self) -> str:
        """What judges of topics read: the main text, or everything where nobody looked for it."""
        return self.main_text or self.text

    @property
    def titled_text(self) -> str:
        """The same below the title."""
        return f"{self.title}\n{self.best_text}"


@dataclass(frozen=True, slots=True)
class Redirect:
    """The page is elsewhere. `address` is the IP address that says so, where a robots.txt was asked for. `again`: the
    target is asked for once more if it was visited already, because the answer may be another now."""

    to: str
    status: int = 301
    address: str = ""
    again: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """No page came. `again_after` is the wait in seconds before another try; None: do not try again. `whole_host` is
    True when the server asks to be left alone, not just for this page. `unanswered`: nothing at all came from the host,
    so the fault may be with our own side; `here`: it certainly is."""

    reason: str
    again_after: float | None = None
    whole_host: bool = False
    unanswered: bool = False
    here: bool = False


@dataclass(frozen=True, slots=True)
class Trouble:
    """No page came because of a mistake of ours, told in one line: an exception while the URL was worked on."""

    reason: str


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """What a host asks for: the text of its robots.txt, "" when it has none. `address` is where it was found, an IP
    address or "" when there is none. `whole_host`: http and https have the same, which only simulated hosts promise.
    `etag` and `modified` are what the server calls this version of the file, "" when it does not. `unchanged`: the text
    is the one that is known already."""

    text: str = ""
    address: str = ""
    whole_host: bool = False
    etag: str = ""
    modified: str = ""
    unchanged: bool = False


class Listed(NamedTuple):
    """What a sitemap or a feed says of a page: its language, as a tag, and the day on which it was changed or
    published, such as 2026-11-15; "" where it does not say."""

    url: str
    language: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class SitemapFile:
    """A sitemap or a feed. `listed` are pages, or other sitemaps if it is an index, evenly spread over the `count` URLs
    that were read. `cut` says why there may be more, "" when it was read to its end."""

    kind: str
    listed: tuple[Listed, ...]
    count: int
    cut: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judgement of a page: relevance 0..1, the yes or no that follows, and a reason a person can read."""

    relevance: float
    relevant: bool
    because: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A page of which a teacher is to say whether it is relevant. `text` is the main text; `words` are those by which
    the judge decided, the weightiest first; `relevance` is what the judge says, 0..1."""

    url: str
    title: str
    text: str
    words: tuple[str, ...] = ()
    relevance: float = 0.5


@dataclass(frozen=True, slots=True)
class Judged:
    """A page that was judged where it was read; from another process its links bring their hints along. `language` is
    the one it was found to be in, a BCP-47 tag or "" when that is not known; `seconds` is the time the judge took."""

    page: Page
    verdict: Verdict
    language: str = ""
    seconds: float = field(default=0.0, compare=False)


Outcome = Page | Judged | Redirect | Failure | Trouble | RobotsRules | SitemapFile


@dataclass(frozen=True, slots=True)
class Sighting:
    """A visited and judged page: all that may be known of its links besides what they say themselves.

    `trail` is the state that the links carry, the page included.
    """

    visit: Visit
    page: Page
    verdict: Verdict
    trail: TrailState

    @property
    def is_find(self) -> bool:
        """Relevant, and not a duplicate of a page that the crawl has already."""
        return self.verdict.relevant and not self.page.duplicate_of


@dataclass(frozen=True, slots=True)
class Handed:
    """A link on its way to the shard that has its host, with what is known of it where it was found.

    `sighting` is the page that it was found on, as `sighting_elsewhere` makes it: one for all links of a page.
    `redirects` are those of the link itself. `is_seed`: it waits before everything else. `again`: it is asked for once
    more if it was visited already."""

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
    """A page of another shard as far as those know it who are handed its links: without texts and links."""
    return Sighting(Visit(url, "", 0, 0.0, depth=depth), Page(url), Verdict(relevance, relevant, ""), trail)


@dataclass(frozen=True, slots=True)
class Miss:
    """A link that was chosen and brought no page: its fetch failed, it redirects to nothing new, robots.txt disallows
    it."""

    visit: Visit
    because: str


Lesson = Sighting | Miss
"""How a visit turned out: what learners learn from."""

Mailed = Handed | Lesson
"""What one shard of a crawl sends to another. The page of a lesson has its URL and status, no texts and no links."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What an admission says of a link. A parked link may come back when more is known; a dropped one is forgotten."""

    decision: Literal["admit", "park", "drop"]
    because: str = ""


ADMIT = Ruling("admit")
