"""The signs of links by their definitions, link by link and without caches: what the quick ones must equal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spoor.judging.language_mentions import WORD, names_among_others
from spoor.judging.language_signs import (
    _NAME_INSIDE,
    _SHORT,
    _words_of_host,
    _words_of_name,
    _words_of_part,
    _words_of_query,
    script_sign,
    sign,
)
from spoor.judging.language_tags import SMALL, Meanings, is_small, languages, meanings, names, read_tag, spoken_in
from spoor.ordering.language_order import choice_among
from spoor.records import Link, Page
from spoor.urls import host_of


def plain_hints(tag: str, page: Page, links: Sequence[Link]) -> list[tuple[float, ...]]:
    """Those of `LanguageSigns`, without `words`."""
    choice = choice_among({named for link in page.links if (named := _named(link))})
    return [(*_signs(tag, link), sign(tag, claimed(page.language)), _choice(tag, link, choice)) for link in links]


def _signs(tag: str, link: Link) -> tuple[float, float, float, float]:
    anchor = sign(tag, named_in_anchor(link.anchor)) or script_sign(tag, link.anchor)
    return sign(tag, named_in_url(link.url)), sign(tag, claimed(link.hreflang)), anchor, domain_sign(tag, link.url)


def _choice(tag: str, link: Link, choice: float) -> float:
    return 0.0 if min(_signs(tag, link)[:3]) < -0.5 else choice


def _named(link: Link) -> str:
    means = claimed(link.hreflang) or named_in_url(link.url) or named_in_anchor(link.anchor)
    return max(means, key=means.__getitem__) if means else ""


def claimed(text: str) -> Meanings:
    tag = read_tag(text)
    return {} if tag is None else {tag: 1.0}


def domain_sign(target: str, url: str) -> float:
    spoken = spoken_in().get(host_of(url).partition(":")[0].rpartition(".")[2])
    language = target.partition("-")[0]
    if spoken is None or language not in languages():
        return 0.0
    return spoken[language] / 100 if language in spoken else -max(spoken.values()) / 100


def named_in_url(url: str) -> Meanings:
    before, _, query = url.partition("?")
    folder, _, name = before.rpartition("/")
    host, *path = folder.partition("//")[2].lower().split("/")
    in_folder = _clearest(_words_of_host(host) + [word for part in path for word in _words_of_part(part)])
    means = _clearer(in_folder, _clearest(_words_of_name(name)))
    return _clearer(means, _clearest(_words_of_query(query))) if query else means


def _clearest(words: Iterable[tuple[str, float]]) -> Meanings:
    clearest: Meanings = {}
    for word, weight in words:
        if means := meanings(word):
            clearest = _clearer(clearest, {tag: weight * sure for tag, sure in means.items()})
    return clearest


def _clearer(first: Meanings, second: Meanings) -> Meanings:
    return second if max(second.values(), default=0.0) >= max(first.values(), default=0.0) and second else first


def named_in_anchor(anchor: str) -> Meanings:
    if len(anchor) > _SHORT:
        return {}
    said = " ".join(anchor.lower().split()).strip("[](){}|<>«»·:;,.!?*-–— ")
    if means := meanings(said):
        return means
    inside = {names()[word] for word in WORD.findall(said) if word in names()}
    if not said.isascii():
        inside |= {tag for name, tag in names_among_others().items() if name in said}
    return {tag: SMALL if is_small(tag) else _NAME_INSIDE for tag in inside} if len(inside) == 1 else {}
