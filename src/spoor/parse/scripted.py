"""Does a page need scripts to be read, and where do its scripts lead? Told from the static response alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spoor.records import Page

THIN_TEXT = 200
"""Characters of text; a page with fewer says next to nothing."""
THIN_LINKS = 5
"""A page with fewer links leads next to nowhere."""
LEAST_CODE = 500
"""Characters of code in a page, without which it does no more than count its readers."""
LONGEST_FORWARD = 2_000
"""Characters of code in a page that does nothing but forward; longer code has other things to do."""

_CODE = re.compile(r"(?:text|application)/(?:x-)?(?:java|ecma)script\s*(?:;|\Z)|module\Z", re.IGNORECASE)
_LOCATION = r"(?<![\w.$])(?:(?:window|document|self|globalThis)\s*\.\s*)?location\s*"
_LITERAL = r"""(["'])((?:(?!\1)[^\\\n]|\\/)*)\1(?!\s*\+)"""
_ASSIGNED = re.compile(rf"{_LOCATION}(?:\.\s*href\s*)?=\s*{_LITERAL}")
_CALLED = re.compile(rf"{_LOCATION}\.\s*(?:replace|assign)\s*\(\s*{_LITERAL}")


@dataclass(frozen=True, slots=True)
class Script:
    """A script element: what its `type` says, whether it has a `src`, and what stands in it."""

    type: str
    has_source: bool
    content: str

    @property
    def is_code(self) -> bool:
        """False: it holds data."""
        return not self.type.strip() or _CODE.match(self.type.strip()) is not None


def is_thin(page: Page) -> bool:
    """Whether it has so little text and so few links that there may be more than can be seen without scripts."""
    return len(page.text) < THIN_TEXT and page.out_degree < THIN_LINKS


def needs_scripts(page: Page, scripts: Sequence[Script]) -> bool:
    """Whether scripts are likely to make most of a page: it is thin, and has code that could. One with some text but
    no title is a piece of another page, such as the list of matches that the search of a manual shows in a frame."""
    if not is_thin(page) or (page.text and not page.title):
        return False
    code = [script for script in scripts if script.is_code]
    return any(script.has_source for script in code) or sum(len(script.content) for script in code) > LEAST_CODE


def forward(scripts: Sequence[Script]) -> str:
    """Where a page leads whose scripts only forward, "" when they do more or it depends."""
    code = [script for script in scripts if script.is_code]
    if any(script.has_source for script in code) or sum(len(script.content) for script in code) > LONGEST_FORWARD:
        return ""
    targets = {target for script in code for target in locations(script)}
    return targets.pop() if len(targets) == 1 else ""


def locations(script: Script) -> Iterator[str]:
    """Where a script may lead the browser: what it gives to `location`, where that is a plain string. That of `top` is
    left out: it is how a page leaves the frame of another."""
    for pattern in (_ASSIGNED, _CALLED) if "location" in script.content else ():
        for found in pattern.finditer(script.content):
            yield found[2].replace("\\/", "/")
