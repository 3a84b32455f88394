"""Our own mistakes and the user's, as a tree:

SpoorError                  anything spoor refuses to do, said in one line with the remedy
├── UsageError              the command or its arguments are wrong           (exit 2)
├── BadInput                a file or folder is not what it should be        (exit 1)
│   ├── MissingExtra        an optional library is not installed             (exit 1)
│   └── BrokenStorage       what a crawl keeps cannot be written any more    (exit 1)
└── BrokenContract          a judge, scorer or other part broke its role     (exit 1)

What the web does wrong is never an exception: it is a `records.Failure`."""

from __future__ import annotations

import sqlite3


class SpoorError(Exception):
    """A line for the user: names the thing, the value and, where there is one, the remedy."""

    exit_code = 1


class UsageError(SpoorError):
    """The command or its arguments are wrong."""

    exit_code = 2


class BadInput(SpoorError):
    """A file or folder is not what it should be."""


class MissingExtra(BadInput):
    """An optional library is not installed."""


class BrokenStorage(BadInput):
    """What a crawl keeps cannot be written any more: nothing is gained by going on."""


class BrokenContract(SpoorError):
    """A judge, scorer or other part broke the promise of its role."""


OF_STORAGE: tuple[type[Exception], ...] = (BrokenStorage, sqlite3.Error)
"""What ends a crawl. Anything else that is raised while a URL is worked on costs that URL, not the crawl."""
