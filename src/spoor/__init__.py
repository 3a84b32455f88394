"""spoor: a focused web crawler with a simulator to evaluate it. docs/python.md shows what can be done from Python."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from spoor.api.crawling import RunningCrawl, crawl
    from spoor.api.folders import Explanation, StoredCrawl, open_crawl
    from spoor.api.laboratory import compare, simulate
    from spoor.api.pages import judge, read_page, strategy
    from spoor.api.training import train_context, train_language, train_rules, train_taxonomy, train_topic
    from spoor.errors import SpoorError
    from spoor.records import Link, Page, Verdict
    from spoor.report.contents import CrawledPage, KnownHost, KnownLink, PageVerdict
    from spoor.roles import Judge
    from spoor.settings import Config as Settings
    from spoor.strategy import Strategy

__all__ = [
    "CrawledPage",
    "Explanation",
    "Judge",
    "KnownHost",
    "KnownLink",
    "Link",
    "Page",
    "PageVerdict",
    "RunningCrawl",
    "Settings",
    "SpoorError",
    "StoredCrawl",
    "Strategy",
    "Verdict",
    "__version__",
    "compare",
    "crawl",
    "judge",
    "open_crawl",
    "read_page",
    "simulate",
    "strategy",
    "train_context",
    "train_language",
    "train_rules",
    "train_taxonomy",
    "train_topic",
]

_HOMES = {
    "api.crawling": ("RunningCrawl", "crawl"),
    "api.folders": ("Explanation", "StoredCrawl", "open_crawl"),
    "api.laboratory": ("compare", "simulate"),
    "api.pages": ("judge", "read_page", "strategy"),
    "api.training": ("train_context", "train_language", "train_rules", "train_taxonomy", "train_topic"),
    "errors": ("SpoorError",),
    "records": ("Link", "Page", "Verdict"),
    "report.contents": ("CrawledPage", "KnownHost", "KnownLink", "PageVerdict"),
    "roles": ("Judge",),
    "settings": ("Settings",),
    "strategy": ("Strategy",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def _exported(name: str) -> Any:
    home = import_module(f"{__name__}.{_HOME_OF[name]}")
    return getattr(home, "Config" if name == "Settings" else name)


class _Package(ModuleType):
    """Imports exported names on first use, because the command line imports this package at every start.

    `crawl` and `strategy` are also modules. Python sets an attribute of the package when it imports one, which must not
    replace the function: `from spoor.crawl import Crawl` and `spoor.crawl(…)` both work.
    """

    def __getattr__(self, name: str) -> Any:
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return _exported(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})

    @property
    def crawl(self) -> Any:
        return _exported("crawl")

    @crawl.setter
    def crawl(self, module: ModuleType) -> None:
        """The module stays in sys.modules."""

    @property
    def strategy(self) -> Any:
        return _exported("strategy")

    @strategy.setter
    def strategy(self, module: ModuleType) -> None:
        """The module stays in sys.modules."""


sys.modules[__name__].__class__ = _Package
