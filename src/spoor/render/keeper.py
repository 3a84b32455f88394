"""The process between us and a browser: whatever ends us or it, the browser, its children and its profile are gone.

Run as a program of its own, by its path, so it imports nothing of spoor. Commands for the browser come in by stdin and
its answers leave by stdout; both are handed on as they are. When nobody holds the other end of stdin any more, the
browser is killed. Linux only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import sys
import tempfile
import time

_DEATH_SIGNAL, _SUBREAPER = 1, 36
"""Options of prctl(2): the signal when our parent ends; that orphans among our descendants become our children."""
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
"""Flags of unshare(2)."""
_NOBODY = 65534
_COMMANDS, _ANSWERS = 3, 4
"""The file descriptors that `--remote-debugging-pipe` uses."""
_LONGEST = 50
"""Characters of the path of the folder for profiles. With what a browser puts after it, it must fit a socket's name."""
_libc = ctypes.CDLL(None, use_errno=True)


def main(namespace: str, program: str, *options: str) -> None:
    """`namespace` is "empty" for a network namespace without any device, else the one we are in."""
    user, group = os.geteuid(), os.getegid()
    if namespace == "empty" and _libc.unshare(_NEW_USER | _NEW_NETWORK) == 0:
        _map_user(user, group)
    _libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    profile = tempfile.mkdtemp(prefix="spoor-browser-", dir=_folder())
    try:
        browser = os.fork()
        if browser == 0:
            _become([program, f"--user-data-dir={profile}", *_sandbox(), *options], home=profile)
        _wait_for_an_end(browser)
    finally:
        _kill_children()
        shutil.rmtree(profile, ignore_errors=True)


def _folder() -> str:
    return usual if len(usual := tempfile.gettempdir()) <= _LONGEST else "/tmp"


def _map_user(user: int, group: int) -> None:
    """To the same user, but root to nobody: as root a browser has no sandbox."""
    for name, inside, outside in (("uid", user or _NOBODY, user), ("gid", group or _NOBODY, group)):
        if name == "gid":
            _write("/proc/self/setgroups", "deny")
        _write(f"/proc/self/{name}_map", f"{inside} {outside} 1")


def _write(path: str, text: str) -> None:
    with contextlib.suppress(OSError), open(path, "w") as file:
        file.write(text)


def _sandbox() -> list[str]:
    return ["--no-sandbox"] if os.geteuid() == 0 else []


def _become(command: list[str], home: str) -> None:
    """The browser: it dies with us even if we are killed ourselves. What it writes beside its profile, such as crash
    reports, goes to the same folder."""
    try:
        _libc.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        os.setsid()
        os.dup2(0, _COMMANDS)
        os.dup2(1, _ANSWERS)
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        os.execve(command[0], command, {"PATH": os.defpath, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"})
    finally:
        os._exit(127)


def _wait_for_an_end(browser: int) -> None:
    """Of the browser, or of the one who sends commands."""
    for stop in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(stop, lambda *_: sys.exit())
    poll = select.poll()
    poll.register(os.pidfd_open(browser), select.POLLIN)
    poll.register(0, 0)  # no event but that it was hung up
    poll.poll()


def _kill_children() -> None:
    """Until there are none. Those whose parents die become ours."""
    while True:
        for child in _children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.005)
        except ChildProcessError:
            return


def _children() -> list[int]:
    me = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _parent(name) == me]


def _parent(process: str) -> int:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


if __name__ == "__main__":
    main(*sys.argv[1:])
