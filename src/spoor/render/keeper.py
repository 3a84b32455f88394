"""Supervisor process of a browser: whichever of crawl and browser ends, it kills the browser with its children, and
removes the profile.

Run as a separate program by its path, so it imports nothing of spoor. The browser inherits stdin for its commands and
stdout for its responses. When the other end of stdin is closed, the browser is killed. Linux only.
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
"""Options of prctl(2): the signal when the parent ends; adopting orphaned descendants."""
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
"""Flags of unshare(2)."""
_NOBODY = 65534
_COMMANDS, _ANSWERS = 3, 4
"""The file descriptors that `--remote-debugging-pipe` uses."""
_LONGEST = 50
"""Maximum length of the path for profiles: with the suffix that a browser adds, it must fit a socket name."""
_libc = ctypes.CDLL(None, use_errno=True)


def main(namespace: str, program: str, *options: str) -> None:
    """If `namespace` is "empty", the browser gets a network namespace without devices, otherwise the current one."""
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
    """Maps to the same user, but root to nobody: as root, a browser has no sandbox."""
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
    """Turns the process into the browser, which dies with its supervisor even if that is killed. What it writes beside
    its profile, such as crash reports, goes to the same folder."""
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
    """Waits until the browser ends, or the sender of commands."""
    for stop in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(stop, lambda *_: sys.exit())
    poll = select.poll()
    poll.register(os.pidfd_open(browser), select.POLLIN)
    poll.register(0, 0)  # reports only that it was closed
    poll.poll()


def _kill_children() -> None:
    """Kills until none are left. Orphans become children of this process."""
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
