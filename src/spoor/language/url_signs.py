"""What a URL says of the language of its page: the country of its domain, languages named in host, path and query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import unquote

from spoor.language.meanings import WORDS, Meanings, locale, meanings
from spoor.language.tags import languages, spoken_in
from spoor.urls import host_of

QUERY_NAMES = frozenset(
    ("l", "lg", "ln", "lng", "lang", "langid", "language", "locale", "hl", "lr", "uselang", "setlang", "userlang")
)
"""Parameters whose value is a language."""

PAGE_ENDINGS = frozenset(
    (
        "html",
        "htm",
        "xhtml",
        "shtml",
        "phtml",
        "php",
        "asp",
        "aspx",
        "jsp",
        "cgi",
        "do",
        "cfm",
        "md",
        "txt",
        "xml",
        "pdf",
    )
)

_PIECE = 0.7
"""How much less a code says as the last piece of a longer name: guide-de."""


def domain_sign(wanted: str, url: str) -> float:
    """By the share of the country's people who speak the language; 0 for domains of no country, and for a language of
    one's own, of which nobody knows where it is spoken."""
    spoken = spoken_in().get(host_of(url).partition(":")[0].rpartition(".")[2])
    language = wanted.partition("-")[0]
    if spoken is None or language not in languages():
        return 0.0
    return spoken[language] / 100 if language in spoken else -max(spoken.values()) / 100


@lru_cache(1 << 16)
def named_in_url(url: str) -> Meanings:
    """What the clearest code or name of a language in host, path and query may mean; of equals the last, which is the
    closest to the page."""
    before, _, query = url.partition("?")
    folder, _, name = before.rpartition("/")
    means = _clearer(_named_in_folder(folder), _named(_words_of_name(name)))
    return _clearer(means, _named(_words_of_query(query))) if query else means


@lru_cache(1 << 16)
def _named_in_folder(folder: str) -> Meanings:
    """Many pages share a folder, so it is worked out once."""
    _, _, rest = folder.partition("//")
    host, *path = rest.lower().split("/")
    return _named(_words_of_host(host) + [word for part in path for word in _words_of_part(part)])


def _named(words: Iterable[tuple[str, float]]) -> Meanings:
    clearest: Meanings = {}
    for word, weight in words:
        if means := meanings(word):
            clearest = _clearer(clearest, {tag: weight * sure for tag, sure in means.items()})
    return clearest


def _clearer(first: Meanings, second: Meanings) -> Meanings:
    return second if max(second.values(), default=0.0) >= max(first.values(), default=0.0) and second else first


def _words_of_host(host: str) -> list[tuple[str, float]]:
    """All labels but those of the registered name; www-de counts as de."""
    return [word for label in host.partition(":")[0].split(".")[:-2] for word in _words_of_part(label)]


def _words_of_part(part: str) -> list[tuple[str, float]]:
    """A folder or a label of a host: the whole of it, or its last piece."""
    word = unquote(part).lower() if "%" in part else part
    last = word.replace("_", "-").rpartition("-")[2]
    if last != word and last not in WORDS and meanings(last) and not locale(word):
        return [(word, 1.0), (last, _PIECE)]
    return [(word, 1.0)]


def _words_of_name(name: str) -> list[tuple[str, float]]:
    """The name of a file: index.ja.html, index.html.ja, guide-de.html."""
    stem, *parts = name.lower().split(".")
    if parts and parts[-1] in PAGE_ENDINGS:
        parts.pop()
    elif not (len(parts) > 1 and parts[-2] in PAGE_ENDINGS):
        parts = parts[:-1]
    words = [(word, weight * _PIECE) for word, weight in _words_of_part(stem)]
    return words + [(part, 1.0) for part in parts] if parts else words


def _words_of_query(query: str) -> Iterator[tuple[str, float]]:
    for parameter in query.lower().split("&"):
        name, _, value = parameter.partition("=")
        if name in QUERY_NAMES:
            yield value.removeprefix("lang_"), 1.0
