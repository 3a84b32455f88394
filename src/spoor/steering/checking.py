"""Normalises actions, and applies them to the settings of a crawl."""

from __future__ import annotations

from dataclasses import replace

from spoor.actions import Action, AddSeeds, Block, Budget, Mark, SlowDown, Unblock, action_of, as_json
from spoor.errors import BadInput
from spoor.settings import Config
from spoor.urls import host_named, normalise


def normalised(action: Action) -> Action:
    """Raises BadInput, in one line, for an invalid URL, host or pattern."""
    match action_of(as_json(action)):
        case AddSeeds(urls):
            return AddSeeds(tuple(dict.fromkeys(map(_url, urls))))
        case Mark(url, relevant):
            return Mark(_url(url), relevant)
        case SlowDown(host, seconds):
            return SlowDown(_host(host), seconds)
        case Block(pattern):
            return Block(_pattern(pattern))
        case Unblock(pattern):
            return Unblock(_pattern(pattern))
        case Budget(None, None):
            raise BadInput("a budget needs max_pages, max_minutes or both")
        case checked:
            return checked


def with_action(settings: Config, action: Action) -> Config:
    """The settings for the next start. Idempotent."""
    asked = settings.crawl
    match action:
        case Budget(pages, minutes):
            pages = asked.max_pages if pages is None else pages
            asked = replace(asked, max_pages=pages, max_minutes=asked.max_minutes if minutes is None else minutes)
        case AddSeeds(urls):
            asked = replace(asked, seeds=tuple(dict.fromkeys([*asked.seeds, *urls])))
    return replace(settings, crawl=asked)


def _url(text: str) -> str:
    url = normalise(text.strip())
    if url is None:
        raise BadInput(f"{text[:200]!r} is not an http or https URL, such as https://example.org/about")
    return url


def _host(text: str) -> str:
    try:
        return host_named(text.strip())
    except ValueError as error:
        raise BadInput(str(error)) from None


def _pattern(text: str) -> str:
    """With its host in lower case, normalised if it contains no star."""
    text = text.strip()
    scheme, separator, rest = text.rpartition("://")
    host, slash, path = rest.partition("/")
    if not (host + path).strip("*/ "):
        raise BadInput(f"{text[:200]!r} would block everything; `spoor pause` stops all requests")
    if scheme.lower() not in ("http", "https", "*", "") or any(map(str.isspace, text)):
        raise BadInput(f"{text[:200]!r} is not a host or a URL pattern, such as ads.example.org or example.org/tags/*")
    host = host.lower() if "*" in host else _host(host)
    return scheme.lower() + separator + host + slash + path if slash else host
