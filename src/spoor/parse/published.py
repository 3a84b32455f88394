"""The publication date of a page, by its own claims."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from html import unescape

# Dates in words or numbers, in the forms used in pages.


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FORMS = [
    re.compile(form)
    for form in (
        r"(?<!\d)(?P<year>\d{4})\s?[-/.年년]\s?(?P<month>\d{1,2})\s?[-/.月월]\s?(?P<day>\d{1,2})(?!\d)",
        r"(?<!\d)(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?!\d)",
        r"(?<!\d)(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})(?!\d)",
        r"(?<!\d)(?P<day>\d{1,2})[a-z]{0,2}\s+(?P<month>[A-Za-z]{3})[a-z]{0,6}[.,]?\s+(?P<year>\d{4})(?!\d)",
        r"\b(?P<month>[A-Za-z]{3})[a-z]{0,6}\.?\s+(?P<day>\d{1,2})[a-z]{0,2},?\s+(?P<year>\d{4})(?!\d)",
        r"/(?P<year>\d{4})/(?P<month>[A-Za-z]{3})[a-z]{0,6}/(?P<day>\d{1,2})/",
    )
]
"""2026-11-15, 20261115, 15.11.2026, 15th November 2026, Nov. 15, 2026, /2026/nov/15/. Not 11/12/2026, which is in
November or December, depending on the country."""
_YEAR = re.compile(r"\d{4}")
"""Part of every form, but in few texts."""


def date_in(text: str) -> date | None:
    """The first date of the first form that matches; time zones are ignored."""
    for form in _FORMS if _YEAR.search(text) else ():
        if (found := form.search(text)) and (day := _date(**found.groupdict())):
            return day
    return None


def _date(year: str, month: str, day: str) -> date | None:
    """None if there is no such day."""
    try:
        number = int(month) if month.isdecimal() else 1 + _MONTHS.index(month.lower())
        return date(int(year), number, int(day))
    except ValueError:
        return None


# The publication date: from metadata, a time element, the URL or the text below the headline, in this order.


EARLIEST = date(1990, 1, 1)
"""There were no web pages before."""
LATEST = date(2099, 12, 31)
"""The default if the day of the fetch is unknown."""

_METAS = """
    articlepublishedtime ogarticlepublishedtime ogpublishedtime articlepublished datepublished
    dcdateissued dctermsissued dcdate dctermsdate dcdatecreated dctermscreated
    pubdate publishdate publisheddate publicationdate publishtime parselypubdate sailthrudate
    citationpublicationdate citationdate weiboarticlecreateat date
"""
"""Names of <meta> elements with the date, in lower case and without punctuation; the most reliable first."""
_PUNCTUATION = re.compile(r"[-_.:\s]")

# These match at most up to the next "<" and do not start within a name, so that the time is linear for any page.
_TAG = re.compile(r"<([mM][eE][tT][aA]|[tT][iI][mM][eE])\b([^<>]*)>([^<]{0,80})")
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_JSON = re.compile(r'"datePublished"\s*:\s*"([^"<]{4,80})"')


def published(html: str, url: str = "", came: date = LATEST) -> str:
    """Such as 2026-11-15, "" if unknown. Never fails, and never returns a day after the page `came`, except the next
    one, because of time zones further east."""
    for said in _said(html, url):
        day = date_in(said)
        if day and day >= EARLIEST and (day - came).days <= 1:
            return day.isoformat()
    return ""


def _said(html: str, url: str) -> Iterator[str]:
    """Strings that may contain the date, the most reliable first."""
    metas: dict[str, str] = {}
    times: list[str] = []
    for tag, inside, after in _TAG.findall(html):
        attributes = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(inside)}
        if tag.lower() == "time":
            times.append(attributes.get("datetime") or after)
            metas.setdefault(_name(attributes.get("itemprop", "")), times[-1])
        else:
            name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop", "")
            metas.setdefault(_name(name), attributes.get("content", ""))
    yield from (metas[name] for name in _METAS.split() if name in metas)
    yield from (said.replace("\\", "") for said in _JSON.findall(html))
    yield from times
    yield "/" + url.partition("://")[2].partition("?")[0].partition("/")[2]
    yield from _below_the_headline(html)


def _name(written: str) -> str:
    return _PUNCTUATION.sub("", written.lower())


_HEADLINE = re.compile(r"<[hH]1\b")
_FAR = 20_000
"""Characters of HTML searched below the headline, or from the start if there is none."""
_MOST_AROUND = 60
"""Maximum length in characters of a text that is a date with a few words, not a sentence with a date."""
_ANY_TAG = re.compile(r"<([^\s<>]*)([^<]*)")
_UNSEEN = frozenset({"script", "style", "template", "noscript", "title", "select", "textarea"})
_COMMENT = "!--"


def _below_the_headline(html: str) -> Iterator[str]:
    """Short pieces of visible text. Above the headline many pages show the current date."""
    headline, unseen = _HEADLINE.search(html), ""
    start = headline.start() if headline else 0
    for tag, rest in _ANY_TAG.findall(html[start : start + _FAR]):
        name, text = tag.lower(), rest.partition(">")[2].strip()
        if unseen:
            unseen = "" if name == f"/{unseen}" or (unseen == _COMMENT and "-->" in rest) else unseen
        elif name.startswith(_COMMENT):
            unseen = "" if "-->" in f"{tag}{rest}" else _COMMENT
        elif name in _UNSEEN:
            unseen = name
        elif text and len(text) <= _MOST_AROUND and "//" not in text:
            yield unescape(text)
