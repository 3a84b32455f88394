"""What is a demo web made of? Hosts with their habits, pages in their languages, links between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

AGENT = "spoor"
"""Whom a host that shuts us out calls by name."""

Trap = Literal["", "calendar", "corridor", "sessions"]


@dataclass(frozen=True, slots=True)
class Place:
    """A host and a path on it, whatever port the web is served on."""

    address: str
    path: str = "/"


@dataclass(frozen=True, slots=True)
class Anchor:
    words: str
    to: Place
    nofollow: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A page as its author wrote it."""

    title: str
    paragraphs: tuple[str, ...]
    links: tuple[Anchor, ...]


@dataclass(frozen=True, slots=True)
class Moved:
    to: Place


@dataclass(frozen=True, slots=True)
class Spelling:
    """In which charset a host writes, and where it says so."""

    charset: str
    declared: Literal["header", "meta", "nowhere"] = "header"


@dataclass(frozen=True, slots=True)
class Habits:
    """`seconds` pass before every answer, as on the way through a network. The first answer to each page may be
    `at_first`, a status that heals. A host that `resets` answers nobody; one that is a `front_of` another sends
    everybody there."""

    seconds: float = 0.03
    at_first: int = 200
    resets: bool = False
    front_of: str = ""
    trap: Trap = ""
    unwelcoming: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """What a host asks of robots: the beginnings of paths to stay away from, and seconds between two visits.
    `named`: it asks only us, by name."""

    disallowed: tuple[str, ...] = ()
    delay: float = 0.0
    named: bool = False

    def forbid(self, path: str) -> bool:
        return path != "/robots.txt" and path.startswith(self.disallowed)

    def text(self) -> str:
        lines = [f"User-agent: {AGENT if self.named else '*'}", *(f"Disallow: {start}" for start in self.disallowed)]
        return "\n".join([*lines, *([f"Crawl-delay: {self.delay}"] if self.delay else []), ""])


@dataclass(frozen=True, slots=True)
class Host:
    """`rules` None: it has no robots.txt."""

    address: str
    language: str
    spelling: Spelling
    habits: Habits
    rules: Rules | None
    zips: bool
    pages: Mapping[str, Text | Moved]

    def forbids(self, path: str) -> bool:
        return self.rules is not None and self.rules.forbid(path)

    def links(self) -> list[Anchor]:
        return [link for page in self.pages.values() if isinstance(page, Text) for link in page.links]


@dataclass(frozen=True, slots=True)
class Plan:
    """`dead` are addresses outside of the web to which its pages link all the same: the status with which each answers
    everybody, 0 where nobody listens."""

    hosts: Mapping[str, Host]
    seeds: tuple[Place, ...]
    dead: Mapping[str, int]
