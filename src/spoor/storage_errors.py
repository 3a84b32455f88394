"""What to do about a file or database that cannot be written: one remedy for each cause, for every storage."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from spoor.errors import NotWritten

_FREE_SPACE = "free some disk space"
_RAISE_LIMIT = "raise the limit of open files (`ulimit -n`), or give fewer --connections or --workers"
_GET_RIGHTS = "use a folder that you may write to, or ask its owner for the right"
_OTHER_FOLDER = "use another folder"
_READ_AGAIN = "see whether the disk is damaged or was removed (`dmesg`)"
REMEDIES = {
    errno.ENOSPC: _FREE_SPACE,
    errno.EDQUOT: "free some disk space, or ask for a larger quota",
    errno.EMFILE: _RAISE_LIMIT,
    errno.ENFILE: "close other programs: the whole machine has too many open files",
    errno.EACCES: _GET_RIGHTS,
    errno.EPERM: _GET_RIGHTS,
    errno.EROFS: "use a folder on a file system that is not read-only",
    errno.ENOTDIR: _OTHER_FOLDER,
    errno.EFBIG: "raise the limit of the size of a file (`ulimit -f`), or use another file system",
    errno.EIO: _READ_AGAIN,
    errno.ESTALE: "mount the network folder anew",
    errno.ENODEV: _READ_AGAIN,
    errno.ENOMEM: "close other programs, or give less work at once",
}
"""By errno: faults of the surroundings, never of spoor."""
CHECK_FOLDER = "`spoor check FOLDER` says what is wrong, and with --repair saves everything readable"
_BY_SQLITE = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_NOMEM: errno.ENOMEM,
}
_UNCLEAR = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
"""SQLite keeps the errno of these to itself."""
_PROBE_BYTES = 1 << 16
_LITTLE_BYTES = 1 << 20
"""A file system with less room than this is full."""


def is_of_surroundings(error: OSError | sqlite3.Error) -> bool:
    """Whether it is about disk, rights or limits: not a fault of spoor, nor damage."""
    if isinstance(error, OSError):
        return error.errno in REMEDIES
    return _sqlite_code(error) in {*_BY_SQLITE, *_UNCLEAR}


def remedy_of(error: Exception) -> str:
    """Where the file is not known; for a damaged database, how to repair it."""
    if isinstance(error, OSError):
        return REMEDIES.get(error.errno or 0, _OTHER_FOLDER)
    return REMEDIES.get(_BY_SQLITE.get(_sqlite_code(error), 0), CHECK_FOLDER)


def not_written(path: Path, error: OSError | sqlite3.Error) -> NotWritten:
    """`path` is the file or folder. What was stored before is safe, whatever the error."""
    number = _errno_of(path, error)
    reason = _with_remedy(path, number) if number else f"{error}; {remedy_of(error)}"
    return NotWritten(f"cannot write {path}: {reason}")


def reason_of(path: Path, error: Exception) -> str:
    """Why a file cannot be read, with the remedy if that is known: SQLite needs some room even to read."""
    number = _errno_of(path, error) if isinstance(error, OSError | sqlite3.Error) else 0
    return _with_remedy(path, number) if number else str(error)


def _with_remedy(path: Path, number: int) -> str:
    where = f" in {_full_folder(path)}" if number == errno.ENOSPC else ""
    return f"{os.strerror(number)}; {REMEDIES.get(number, _OTHER_FOLDER)}{where}"


@contextlib.contextmanager
def storing(path: Path) -> Iterator[None]:
    """Converts errors of files and databases to `NotWritten`, a message of one line."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise not_written(path, error) from error


def _full_folder(path: Path) -> Path:
    """SQLite sorts in the folder for temporary files, so that this may be the full one."""
    folder = path if path.is_dir() else path.parent
    with contextlib.suppress(OSError):
        temporary = Path(tempfile.gettempdir())
        if shutil.disk_usage(folder).free > _LITTLE_BYTES > shutil.disk_usage(temporary).free:
            return temporary
    return folder


def _errno_of(path: Path, error: OSError | sqlite3.Error) -> int:
    """0 if unknown, or if the file is damaged."""
    if isinstance(error, OSError):
        return error.errno or 0
    code = _sqlite_code(error)
    return _tried_errno(path) if code in _UNCLEAR else _BY_SQLITE.get(code, 0)


def _sqlite_code(error: Exception) -> int:
    """The primary code; 0 if the error is not SQLite's own."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _tried_errno(path: Path) -> int:
    """The errno of opening this file, or of writing another one beside it; 0 if both succeed."""
    folder = path if path.is_dir() else path.parent
    try:
        if path.is_file():
            os.close(os.open(path, os.O_RDWR))
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(_PROBE_BYTES))
    except OSError as error:
        return error.errno or 0
    return 0
