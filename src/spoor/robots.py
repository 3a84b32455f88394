"""What does a robots.txt allow, and how slowly? RFC 9309 by protego, with names of robots compared as a whole."""

from __future__ import annotations

import re
from functools import lru_cache

from protego import Protego

_USER_AGENT = re.compile(r"^([ \t]*user[- ]?agent[ \t]*:[ \t]*)([^\s/*#]+)[^\r\n#]*", re.IGNORECASE | re.MULTILINE)
_LARGE = 20_000
"""Characters; parsed, a text takes some twenty times its length."""

LONGEST_DELAY = 300.0
"""Seconds of a Crawl-delay that are heeded; a host that asks for days would keep a crawl open for ever."""

SILENT = "# The host did not answer.\nUser-agent: *\nDisallow: /\n"
"""Stands for the rules of a host that could not be asked, often enough: nothing may be fetched from it."""


def allows(text: str, agent: str, url: str) -> bool:
    """May `agent` (its name or its whole User-Agent header) fetch the normalised `url`? Never raises."""
    return not text or _rules(text).can_fetch(url, _name(agent))


def delay(text: str, agent: str) -> float | None:
    """Seconds the host wants between two visits, by Crawl-delay or Request-rate, at most LONGEST_DELAY; None: it does
    not say."""
    if not text:
        return None
    rules, name = _rules(text), _name(agent)
    rate = rules.request_rate(name)
    wanted = [rules.crawl_delay(name), rate.seconds / rate.requests if rate else None]
    longest = max((seconds for seconds in wanted if seconds is not None), default=None)
    return None if longest is None else min(longest, LONGEST_DELAY)


def _name(agent: str) -> str:
    """The product token and a slash. Protego is content with the beginning of a name; the slash makes it whole."""
    return (agent.partition("/")[0].split() or ["*"])[0].lower() + "/"


def _rules(text: str) -> Protego:
    return _few(text) if len(text) > _LARGE else _many(text)


def _parse(text: str) -> Protego:
    named = _USER_AGENT.sub(r"\1\2/", text.removeprefix("\ufeff"))
    return Protego.parse(named)


_many = lru_cache(maxsize=2048)(_parse)
_few = lru_cache(maxsize=16)(_parse)
