"""When was a page published? As it says itself in its metadata, in a time element or in its URL, in this order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from spoor.parse.main_text.dates import date_in

EARLIEST = date(1990, 1, 1)
"""There were no web pages before."""
LATEST = date(2099, 12, 31)
"""For those who do not know when a page came."""

_METAS = """
    articlepublishedtime ogarticlepublishedtime ogpublishedtime articlepublished datepublished
    dcdateissued dctermsissued dcdate dctermsdate dcdatecreated dctermscreated
    pubdate publishdate publisheddate publicationdate publishtime parselypubdate sailthrudate
    citationpublicationdate citationdate weiboarticlecreateat date
"""
"""What a <meta> with the date is called, in small letters and without punctuation; the most trustworthy first."""
_PUNCTUATION = re.compile(r"[-_.:\s]")

# None of them goes beyond the next "<" or begins within a name, so that a page is read once, whatever is in it.
_TAG = re.compile(r"<([mM][eE][tT][aA]|[tT][iI][mM][eE])\b([^<>]*)>([^<]{0,80})")
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_JSON = re.compile(r'"datePublished"\s*:\s*"([^"<]{4,80})"')


def published(html: str, url: str = "", came: date = LATEST) -> str:
    """Such as 2026-11-15, "" when it is not known. Never fails, and never names a day after the page `came`, save for
    the one that a clock further east may show."""
    for said in _said(html, url):
        day = date_in(said)
        if day and day >= EARLIEST and (day - came).days <= 1:
            return day.isoformat()
    return ""


def _said(html: str, url: str) -> Iterator[str]:
    """What may hold the date, the most trustworthy first."""
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


def _name(written: str) -> str:
    return _PUNCTUATION.sub("", written.lower())
