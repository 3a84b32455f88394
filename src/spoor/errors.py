"""Errors of spoor and of the user, as a tree:

SpoorError                  anything spoor refuses to do, in one line with the remedy
├── UsageError              the command or its arguments are wrong           (exit 2)
├── BadInput                a file or folder is not what it should be        (exit 1)
│   ├── MissingExtra        an optional library is not installed             (exit 1)
│   └── BrokenStorage       the storage of a crawl is no longer writable     (exit 1)
│       └── NotWritten      a file cannot be written, with the remedy        (exit 1)
├── BrokenContract          a part, such as a judge, violated its role       (exit 1)
└── RequestsBroken          every request fails by an error of spoor         (exit 1)

Errors of the web are never exceptions: each is a `records.Failure`."""

from __future__ import annotations

import sqlite3


class SpoorError(Exception):
    """A one-line message for the user: names the thing, the value and, where there is one, the remedy."""

    exit_code = 1


class UsageError(SpoorError):
    """The command or its arguments are wrong."""

    exit_code = 2


class BadInput(SpoorError):
    """A file or folder is not what it should be."""


class MissingExtra(BadInput):
    """An optional library is not installed."""


class BrokenStorage(BadInput):
    """The storage of a crawl is no longer writable: continuing is pointless."""


class NotWritten(BrokenStorage):
    """A file cannot be written: the message ends with what the user can do about it."""


class BrokenContract(SpoorError):
    """A judge, scorer or other part violated the contract of its role."""


class RequestsBroken(SpoorError):
    """Every request fails by an error of spoor, or of a library that it uses: not one URL is at fault."""


REPORT_IT = "nothing is lost: report it with a file of the folder trouble, and resume with another version"

OF_STORAGE: tuple[type[Exception], ...] = (BrokenStorage, sqlite3.Error)
"""Exceptions that end a crawl. Any other exception while a URL is processed costs only that URL."""
