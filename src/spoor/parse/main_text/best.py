"""The main text by trafilatura, in the settings that measure best: for pages that are kept."""

from __future__ import annotations

import logging
from typing import Any

from spoor.errors import MissingExtra
from spoor.parse.bounds import deeper_than
from spoor.parse.main_text.node_ratio import node_ratio_text

_MOST_TAGS = 50_000
"""Trafilatura needs some seconds for them; larger pages are read by the method of paper 002."""
_DEEPEST = 200
"""Elements inside one another; of pages that go deeper trafilatura may see nothing."""


def require_trafilatura() -> Any:
    """The library itself; it is imported only here, because it is an extra."""
    try:
        import trafilatura
    except ModuleNotFoundError:
        raise MissingExtra("main texts need trafilatura; install it with: pip install 'spoor[text]'") from None
    # It logs pages in which it finds nothing; that is told by those who ask.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    return trafilatura


def best_text(html: str, url: str = "") -> str:
    """Empty when there is no main text, as on a page of nothing but links."""
    trafilatura = require_trafilatura()
    if html.count("<") > _MOST_TAGS:
        return node_ratio_text(html)
    found = trafilatura.extract(html, url=url or None, fast=True, include_comments=False, favor_recall=True)
    return found or (node_ratio_text(html) if deeper_than(html, _DEEPEST) else "")
