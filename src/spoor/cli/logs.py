"""Log handlers of a command: warnings go to standard error, and with --log-file all records of a level to a file."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator
from logging.handlers import RotatingFileHandler
from pathlib import Path

from spoor.cli.terminal import check_writable
from spoor.errors import SpoorError, UsageError
from spoor.result_files import STANDARD_OUTPUT

FILE_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LARGEST_FILE, OLDER_FILES = 10_000_000, 5
"""Size in bytes at which a log file is rotated (FILE.1, FILE.2, and so on), and the number of older files kept."""

_log = logging.getLogger(__name__)


class StandardError(logging.Handler):
    """Looks up the stream for each record, because a live line replaces it while it is shown."""

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(OSError, ValueError):  # The stream is closed; that must not end a crawl.
            print(f"spoor: {record.levelname.lower()}: {record.getMessage()}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def logged(file: Path | None, level: str | None) -> Iterator[None]:
    """Installs handlers while a command runs, and logs the error that ends it. `level` None means info for a file,
    warning otherwise. With a file, warnings also go to standard error."""
    least = (level or ("info" if file else "warning")).upper()
    terminal = StandardError(logging.WARNING if file else least)
    terminal.addFilter(lambda record: record.name != __name__)  # The command line prints these itself.
    ours, root = logging.getLogger("spoor"), logging.getLogger()
    earlier = ours.level
    handlers = [terminal, *([_opened(file)] if file else [])]
    ours.setLevel(least)
    for handler in handlers:
        root.addHandler(handler)
    try:
        with _ending():
            yield
    finally:
        ours.setLevel(earlier)
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()


def _opened(file: Path) -> logging.Handler:
    if file == STANDARD_OUTPUT:
        remedy = "--log-level info shows on standard error what it would hold; or name a file"
        raise UsageError(f"--log-file {file}: {remedy}")
    check_writable(file)
    handler = RotatingFileHandler(file, maxBytes=LARGEST_FILE, backupCount=OLDER_FILES, encoding="utf8")
    handler.setFormatter(logging.Formatter(FILE_FORMAT))
    return handler


@contextlib.contextmanager
def _ending() -> Iterator[None]:
    """Logs the exception that ends a command, if any."""
    try:
        yield
    except SpoorError as error:
        _log.error("%s", error)
        raise
    except KeyboardInterrupt:
        _log.error("interrupted")
        raise
    except Exception:
        _log.exception("ended by an unexpected error")
        raise
