"""Generates a demo web from a seed: sixty hosts, two thousand pages, six languages, many dead links, pages without
links to them or without HTML, and many kinds of errors."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from spoor.demo.plan import (
    BEHIND,
    HOSTS,
    LISTING,
    PUBLISHING,
    SCRIPTED,
    SCRIPTED_ADDRESS,
    SECTIONS,
    SPELLINGS,
    TUNNEL_ENTRANCES,
    TUNNELS,
    UNLINKED,
    Anchor,
    Habits,
    Host,
    Moved,
    Place,
    Plan,
    Rules,
    Site,
    Spelling,
    Text,
    dead_hosts,
    sites,
)
from spoor.lab.generate.prose import LANGUAGE, Author

Pages = dict[str, Text | Moved]

DIRECTORY = ("english", 0)
"""It links to more hosts than others do, and has a guestbook full of advertising links."""
SEEDS = (DIRECTORY, ("thai", 0), ("japanese", 0))
TUNNEL = "/travel-tips.html"
REPORT = "/report.pdf"
TO_RELEVANT = {"thai": 0.5, "english": 0.2}
TO_RELEVANT_ELSE, TO_OWN = 0.12, 0.6
"""The probability that a link to another host leads to a Thai one, and otherwise to one of the page's own language."""
ZIPS = 0.3
TO_DEAD = 0.45
"""The probability that a link is followed by one to a dead host; about three in ten of all links are dead."""


def plan(seed: int = 1) -> Plan:
    """The same seed always gives the same web."""
    rng = random.Random(seed)
    editor = _Editor(seed, rng, {site.which: site for site in sites(rng)})
    hosts = {site.which: _host(site, editor) for site in editor.sites.values()}
    hosts[LISTING] = _listing(hosts[LISTING], editor)
    hosts[PUBLISHING] = _publishing(hosts[PUBLISHING], editor)
    served = {host.address: host for host in (*hosts.values(), _scripted(editor))}
    return Plan(served, tuple(editor.sites[which].home for which in SEEDS), editor.dead)


def _host(site: Site, editor: _Editor) -> Host:
    spellings = SPELLINGS[site.language]
    spelling = spellings[site.number % len(spellings)]
    zips = editor.rng.random() < ZIPS
    return Host(site.address, site.language, spelling, site.habits, site.rules, zips, editor.pages(site))


def _scripted(editor: _Editor) -> Host:
    """Its home page links to all others, and each of these back."""
    paths = ["/", *(f"/story/{number}.html" for number in range(1, SCRIPTED))]
    pages: Pages = {}
    for path in paths:
        page = editor.essay("thai")
        links = [Anchor(page.title, Place(SCRIPTED_ADDRESS, to)) for to in (paths[1:] if path == "/" else paths[:1])]
        pages[path] = replace(page, links=tuple(links), kind="scripted")
    return Host(SCRIPTED_ADDRESS, "thai", Spelling("utf-8"), Habits(), Rules(), False, pages)


def _listing(host: Host, editor: _Editor) -> Host:
    """Its sitemap lists its ordinary pages, and some to which no page links."""
    essays = (replace(editor.essay(host.language), kind="unlinked") for _ in range(UNLINKED))
    unlinked = {f"/archive/{number}.html": essay for number, essay in enumerate(essays, 1)}
    ordinary = editor.sites[LISTING].paths
    return replace(host, rules=host.rules or Rules(), pages={**host.pages, **unlinked}, listed=(*ordinary, *unlinked))


def _publishing(host: Host, editor: _Editor) -> Host:
    home, report = host.pages["/"], Place(host.address, REPORT)
    assert isinstance(home, Text)
    document = replace(editor.essay(host.language), links=home.links[:1], kind="pdf")
    added = (Anchor(document.title, report), Anchor(document.title, Place(SCRIPTED_ADDRESS)))
    linked = replace(home, links=(*added, *home.links))
    return replace(host, pages={**host.pages, "/": linked, REPORT: document})


@dataclass
class _Editor:
    """Generates the pages of one site after another; the order matters, because all draw from one random generator."""

    seed: int
    rng: random.Random
    sites: dict[tuple[str, int], Site]
    dead: dict[str, int] = field(default_factory=dead_hosts)
    _author: Author = field(init=False)
    _popularity: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self._author = Author(self.seed)
        self._author.turn_to(0)
        self._popularity = list(accumulate(1 / rank for rank in range(1, len(self.dead) + 1)))

    def pages(self, site: Site) -> Pages:
        if site.habits.front_of:
            return {}
        pages: Pages = {"/": self._write(site, self._from_home(site))}
        for section in site.sections:
            inside = site.pages_in(section)
            pages[section] = self._write(site, [*self._within(site, ["/", *inside]), self._elsewhere(site)])
            for path, following in zip(inside, [*inside[1:], section], strict=True):
                pages[path] = self._write(site, self._from_page(site, section, following))
        return pages | self._duplicates(site, pages) | self._corners(site)

    def _from_home(self, site: Site) -> list[Anchor]:
        paths = [*site.sections, "/old/1.html", "/mirror/1.html", "/gone.html"]
        if site.keeps_secrets:
            paths += ["/private/", "/search?q=1", "/search?q=2"]
        if site.habits.trap in ("calendar", "corridor"):
            paths.append(f"/{site.habits.trap}/")
        neighbours = [self._elsewhere(site) for _ in range(15 if site.which == DIRECTORY else 4)]
        return [*self._within(site, paths), *neighbours, *self._special(site)]

    def _special(self, site: Site) -> list[Anchor]:
        """Links that only one home page has."""
        if site.which in TUNNEL_ENTRANCES:
            return self._within(self.sites[TUNNEL_ENTRANCES[site.which]], [TUNNEL])
        if site.which == BEHIND:
            return self._within(site, ["/loop/1"])
        return self._within(site, ["/guestbook.html"]) if site.which == DIRECTORY else []

    def _from_page(self, site: Site, section: str, following: str) -> list[Anchor]:
        near = self._within(site, ["/", section, following, self.rng.choice(site.paths)])
        return [*near, *(self._elsewhere(site) for _ in range(self.rng.randint(1, 3)))]

    def _duplicates(self, site: Site, pages: Pages) -> Pages:
        """Duplicates: exact, near, and under an old address."""
        original = pages[site.paths[2]]
        assert isinstance(original, Text)
        nearly = Text(original.title, (*original.paragraphs, self._words(site.language, 4)), original.links)
        return {
            "/print/1.html": original,
            "/mirror/1.html": nearly,
            "/old/1.html": Moved(Place(site.address, "/print/1.html")),
        }

    def _corners(self, site: Site) -> Pages:
        """Pages off the ordinary paths: disallowed by robots.txt, only linked with nofollow, tunnels, a loop."""
        which, corners = site.which, Pages()
        if site.keeps_secrets:
            inside = [f"/private/{page}.html" for page in range(1, 6)]
            corners |= {path: self._write(site, self._within(site, inside)) for path in ("/private/", *inside)}
        if which == BEHIND:
            corners |= {f"/loop/{k}": Moved(Place(site.address, f"/loop/{3 - k}")) for k in (1, 2)}
        if which == DIRECTORY:
            corners |= self._guestbook(site)
        if which in TUNNELS:
            there = self.sites[TUNNELS[which]]
            corners[TUNNEL] = self._write(site, self._within(there, there.paths[:3]))
        return corners

    def _guestbook(self, site: Site) -> Pages:
        advertised = [f"/advertised/{page}.html" for page in range(1, 21)]
        links = [Anchor(one.words, one.to, nofollow=True) for one in self._within(site, advertised)]
        pages: Pages = {path: self._write(site, []) for path in advertised}
        return pages | {"/guestbook.html": self._write(site, links)}

    def _write(self, site: Site, links: list[Anchor]) -> Text:
        return replace(self.essay(site.language), links=tuple(self._with_dead(site, links)))

    def essay(self, language: str) -> Text:
        """A page without links."""
        title, *paragraphs = (self._words(language, many) for many in (5, 45, 45, 45))
        return Text(title, tuple(paragraphs), ())

    def _with_dead(self, site: Site, links: list[Anchor]) -> Iterator[Anchor]:
        """Dead links look like others: their anchors are in the language of the page."""
        for link in links:
            yield link
            if self.rng.random() < TO_DEAD:
                (address,) = self.rng.choices(list(self.dead), cum_weights=self._popularity)
                path = self.rng.choice(("/", f"/{self.rng.choice(SECTIONS)}/{self.rng.randint(1, 9)}.html"))
                yield Anchor(self._words(site.language, 3), Place(address, path), link.nofollow)

    def _within(self, site: Site, paths: Sequence[str]) -> list[Anchor]:
        return [self._anchor(site, path) for path in paths]

    def _elsewhere(self, site: Site) -> Anchor:
        """A link to another site: to its home page or to any other."""
        there = self.rng.choice([one for one in self._candidates(self._language(site)) if one is not site])
        return self._anchor(there, self.rng.choice(("/", self.rng.choice(there.paths))))

    def _language(self, site: Site) -> str:
        if self.rng.random() < TO_RELEVANT.get(site.language, TO_RELEVANT_ELSE):
            return "thai"
        own = site.language if site.language != "thai" and self.rng.random() < TO_OWN else ""
        return own or self.rng.choice([language for language in HOSTS if language != "thai"])

    def _candidates(self, language: str) -> list[Site]:
        hidden = TUNNELS.values()
        return [site for which, site in self.sites.items() if site.language == language and which not in hidden]

    def _anchor(self, site: Site, path: str) -> Anchor:
        return Anchor(self._words(site.language, 3), Place(site.address, path))

    def _words(self, language: str, many: int) -> str:
        return self._author.write(LANGUAGE[language], many)
