"""Whether a page needs scripts, and where its scripts redirect, determined from the static response alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spoor.records import Page

THIN_TEXT = 200
"""In characters; a page with less text has hardly any content."""
THIN_LINKS = 5
"""A page with fewer links has hardly any."""
LEAST_CODE = 500
"""In characters; a page with less code only counts its visitors."""
LONGEST_FORWARD = 2_000
"""Maximum characters of code in a page that only redirects; longer code does other things."""

_CODE = re.compile(r"(?:text|application)/(?:x-)?(?:java|ecma)script\s*(?:;|\Z)|module\Z", re.IGNORECASE)
_LOCATION = r"(?<![\w.$])(?:(?:window|document|self|globalThis)\s*\.\s*)?location\s*"
_LITERAL = r"""(["'])((?:(?!\1)[^\\\n]|\\/)*)\1(?!\s*\+)"""
_ASSIGNED = re.compile(rf"{_LOCATION}(?:\.\s*href\s*)?=\s*{_LITERAL}")
_CALLED = re.compile(rf"{_LOCATION}\.\s*(?:replace|assign)\s*\(\s*{_LITERAL}")


@dataclass(frozen=True, slots=True)
class Script:
    """A script element: its `type`, whether it has a `src`, and its content."""

    type: str
    has_source: bool
    content: str

    @property
    def is_code(self) -> bool:
        """False if it contains data."""
        return not self.type.strip() or _CODE.match(self.type.strip()) is not None


def is_thin(page: Page) -> bool:
    """Whether it has so little text and so few links that scripts may add more."""
    return len(page.text) < THIN_TEXT and page.out_degree < THIN_LINKS


def needs_scripts(page: Page, scripts: Sequence[Script]) -> bool:
    """Whether scripts probably produce most of a page: it is thin, and has code that could. A page with some text but
    no title is part of another page, such as a frame with the results of a search in a manual."""
    if not is_thin(page) or (page.text and not page.title):
        return False
    code = [script for script in scripts if script.is_code]
    return any(script.has_source for script in code) or sum(len(script.content) for script in code) > LEAST_CODE


def forward(scripts: Sequence[Script]) -> str:
    """The target of a page whose scripts only redirect, "" if they do more or have several targets."""
    code = [script for script in scripts if script.is_code]
    if any(script.has_source for script in code) or sum(len(script.content) for script in code) > LONGEST_FORWARD:
        return ""
    targets = {target for script in code for target in locations(script)}
    return targets.pop() if len(targets) == 1 else ""


def locations(script: Script) -> Iterator[str]:
    """Where a script may redirect: string literals assigned to `location`. Those of `top.location` are ignored: pages
    use them to leave a frame."""
    for pattern in (_ASSIGNED, _CALLED) if "location" in script.content else ():
        for found in pattern.finditer(script.content):
            yield found[2].replace("\\/", "/")
