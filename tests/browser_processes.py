"""Processes below another one, and which of them run pages of a browser."""

from __future__ import annotations

import os
from pathlib import Path


def is_running(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def renderers() -> list[int]:
    """Processes of browsers below this one in which pages run."""
    return [process for process in descendants(os.getpid()) if b"--type=renderer" in _read(process, "cmdline")]


def descendants(process: int) -> list[int]:
    """Of a process, itself left out."""
    parents = {int(entry.name): _parent(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    found, last = list[int](), [process]
    while last:
        last = [child for child, parent in parents.items() if parent in last]
        found += last
    return found


def _parent(process: int) -> int:
    words = _read(process, "stat").rpartition(b")")[2].split()
    return int(words[1]) if words else 0


def _read(process: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{process}/{name}").read_bytes()
    except OSError:
        return b""
