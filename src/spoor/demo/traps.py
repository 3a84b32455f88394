"""Pages without end: a calendar that goes on for ever, a corridor of ever longer paths, links with session ids."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from spoor.demo.plan import Anchor, Host, Moved, Place, Text

FIRST_MONTH = 2026 * 12
_MONTH = re.compile(r"/calendar/(\d{4})/(\d{2})/")
_CORRIDOR = re.compile(r"/corridor/(older/)*")


def endless(host: Host, path: str) -> Text | None:
    """The page of a trap at this path; None: it leads into none."""
    if host.habits.trap == "calendar":
        return _calendar(host, path)
    return _corridor(host, path) if host.habits.trap == "corridor" else None


def _calendar(host: Host, path: str) -> Text | None:
    """Nothing happens in any month; each leads to the ones around it and to the same month of other years."""
    found = _MONTH.fullmatch(path)
    if not found and path != "/calendar/":
        return None
    month = int(found[1]) * 12 + int(found[2]) - 1 if found else FIRST_MONTH
    paths = [f"/calendar/{there // 12:04}/{there % 12 + 1:02}/" for there in _around(month)]
    return _like_home(host, paths)


def _around(month: int) -> list[int]:
    return [month + step for step in (-12, -1, 1, 12) if 0 <= month + step < 10_000 * 12]


def _corridor(host: Host, path: str) -> Text | None:
    return _like_home(host, [f"{path}older/"]) if _CORRIDOR.fullmatch(path) else None


def _like_home(host: Host, paths: list[str]) -> Text:
    """What the home page says, and links to the paths, which are told apart by their numbers only."""
    home = host.pages["/"]
    assert not isinstance(home, Moved)
    links = tuple(Anchor(path.strip("/").partition("/")[2] or "1", Place(host.address, path)) for path in paths)
    return Text(home.title, home.paragraphs[:1], links)


def with_session(host: Host, text: Text, asked: str) -> Text:
    """Every answer is a new session, which all links within the host carry on."""
    session = hashlib.md5(asked.encode(), usedforsecurity=False).hexdigest()
    return replace(text, links=tuple(_carrying(link, session, host.address) for link in text.links))


def _carrying(link: Anchor, session: str, address: str) -> Anchor:
    if link.to.address != address:
        return link
    mark = "&" if "?" in link.to.path else "?"
    return replace(link, to=Place(address, f"{link.to.path}{mark}PHPSESSID={session}"))
