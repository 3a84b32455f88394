"""robots.txt read in the plainest way, as the standard says it: each rule is a regular expression, all are tried."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote_from_bytes, unquote_to_bytes

_NAMES = {"user-agent", "useragent", "user agent"}
_ALLOW = {"allow"}
_DISALLOW = {"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"}
_OTHER = re.compile(rb"(?:%[0-9A-Fa-f]{2})|[^\x21-\x7e]|[\"<>^`{|}\\]")


@dataclass
class Group:
    names: list[str] = field(default_factory=list)
    rules: list[tuple[int, bool, re.Pattern[bytes]]] = field(default_factory=list)
    is_open: bool = True


class PlainRobots:
    def __init__(self, body: bytes) -> None:
        self.groups: list[Group] = []
        self.patterns: list[bytes] = []
        for line in re.split(rb"[\r\n]", body.removeprefix(b"\xef\xbb\xbf")):
            self._read(line.split(b"#")[0])

    def _read(self, line: bytes) -> None:
        name, colon, value = line.partition(b":")
        words = line.split()
        if not colon and len(words) == 2:
            name, value = words
        known, value = name.decode("latin-1").strip().lower(), value.decode("utf-8", "replace").strip().encode()
        if known in _NAMES:
            if not self.groups or not self.groups[-1].is_open:
                self.groups.append(Group())
            self.groups[-1].names.append(_token(value.decode("latin-1")))
        elif known in _ALLOW | _DISALLOW and self.groups:
            self.groups[-1].is_open = False
            if value:
                self.patterns.append(value)
                self.groups[-1].rules.append((*_weight(value, known in _ALLOW), _expression(value)))

    def allows(self, agent: str, path: bytes) -> bool:
        if path == b"/robots.txt":
            return True
        ours = [group for group in self.groups if agent in group.names]
        groups = ours or [group for group in self.groups if "*" in group.names]
        found = [rule[:2] for group in groups for rule in group.rules if rule[2].match(_plain(path))]
        return max(found)[1] if found else True

    def agents(self) -> list[str]:
        return [name for group in self.groups for name in group.names if name not in ("", "*")]


def _token(value: str) -> str:
    if value.split()[:1] == ["*"]:
        return "*"
    found = re.match(r"[A-Za-z_-]*", value)
    return found[0].lower() if found else ""


def _plain(path: bytes) -> bytes:
    """Escapes only where the standard needs them, in capitals."""

    def spelt(found: re.Match[bytes]) -> bytes:
        meant = unquote_to_bytes(found[0]) if found[0].startswith(b"%") else found[0]
        if re.fullmatch(rb"[A-Za-z0-9._~-]", meant):
            return meant
        return quote_from_bytes(meant, safe="").encode()

    return _OTHER.sub(spelt, path)


def _weight(value: bytes, allows: bool) -> tuple[int, bool]:
    return len(re.sub(rb"\*+", b"*", _plain(value))), allows


def _expression(value: bytes) -> re.Pattern[bytes]:
    pattern = _plain(value)
    ends = pattern.endswith(b"$")
    pieces = map(re.escape, pattern.removesuffix(b"$").split(b"*"))
    return re.compile(b".*".join(pieces) + (rb"\Z" if ends else b""), re.DOTALL)
