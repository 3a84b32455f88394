"""The sort-friendly form of a URL (SURT), the key of replay tools: the canonical form of the Internet Archive, with the
host reversed. Byte for byte as package `surt` makes it."""

from __future__ import annotations

import re
from contextlib import suppress
from socket import inet_aton, inet_ntoa
from urllib.parse import quote_from_bytes, unquote_to_bytes

_URL = re.compile(rb"([a-zA-Z][a-zA-Z0-9+.-]*):(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.DOTALL)
_BLANKS = re.compile(rb"[\n\r\t]")
_REPEATED_SCHEME = re.compile(rb"^(https?://)+")
_WWW = re.compile(rb"www\d*\.")
_DEFAULT_PORTS = {b"http": b"80", b"https": b"443"}
_KEPT = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
"""Characters that are not percent-encoded, besides letters and digits."""
_DOTS_OF_NUMBERS = re.compile(rb"(?:0[0-7]*|[1-9][0-9]*)(?:\.[0-9]+){0,3}")
_SESSIONS_IN_PATH = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rb"^(.*/)(\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^\?]+\.aspx.*)$",
        rb"^(.*/)(\([0-9a-z]{24}\)/)([^\?]+\.aspx.*)$",
    )
)
_SESSIONS_IN_QUERY = tuple(
    re.compile(rb"^(.*)(?:" + pattern + rb")(?:&(.*))?$", re.IGNORECASE)
    for pattern in (
        rb"jsessionid=[0-9a-zA-Z]{32}",
        rb"phpsessid=[0-9a-zA-Z]{32}",
        rb"sid=[0-9a-zA-Z]{32}",
        rb"ASPSESSIONID[a-zA-Z]{8}=[a-zA-Z]{24}",
        rb"cfid=[^&]+&cftoken=[^&]+",
    )
)


def surt(url: str) -> str:
    """URLs with the same key are one page to a replay tool. Without a scheme, http is meant; "-" for no URL."""
    written = _BLANKS.sub(b"", url.encode("utf-8", "surrogatepass").strip())
    found = _URL.fullmatch(_REPEATED_SCHEME.sub(rb"\1", written)) or _URL.fullmatch(b"http://" + written)
    if found is None or not written:
        return "-"
    scheme, place, path, query = (part or b"" for part in found.groups())
    host, port = _host_and_port(place.rpartition(b"@")[2].lower())
    said = b":" + port if port and port != _DEFAULT_PORTS.get(scheme.lower()) else b""
    key = _reversed(_canonical_host(host)) + said + b")" + _canonical_path(path)
    canonical_query = _canonical_query(query)
    return (key + b"?" + canonical_query if canonical_query else key).decode("ascii", "replace")


def _host_and_port(place: bytes) -> tuple[bytes, bytes]:
    """An IPv6 address without its brackets."""
    if place.startswith(b"["):
        host, _, port = place[1:].partition(b"]")
        return host, port.removeprefix(b":")
    host, _, port = place.partition(b":")
    return host, port


def _canonical_host(host: bytes) -> bytes:
    host = _unescaped(host)
    if not host.isascii():
        with suppress(UnicodeError):
            host = host.decode("utf-8", "ignore").encode("idna")
    host = host.replace(b"..", b".").strip(b".")
    host = _address(host) or _escaped(host.lower())
    www = _WWW.match(host)
    return host[www.end() :] if www else host


def _address(host: bytes) -> bytes:
    """In four numbers, if the host is an address in some form; b"" otherwise."""
    try:
        if host.isdigit():
            return inet_ntoa((int(host) & 0xFFFFFFFF).to_bytes(4, "big")).encode()
        return inet_ntoa(inet_aton(host.decode())).encode() if _DOTS_OF_NUMBERS.fullmatch(host) else b""
    except (OSError, UnicodeError):
        return b""


def _reversed(host: bytes) -> bytes:
    return b",".join(reversed(host.split(b".")))


def _canonical_path(path: bytes) -> bytes:
    path = _escaped(_without_dots(_unescaped(path))).lower()
    for pattern in _SESSIONS_IN_PATH:
        if found := pattern.match(path):
            path = found[1] + found[3]
    return path[:-1] if path.endswith(b"/") and len(path) > 1 else path


def _without_dots(path: bytes) -> bytes:
    """Dot segments and empty ones do not count, except that a slash at the end is kept."""
    kept: list[bytes] = []
    for segment in path.split(b"/")[1:]:
        if segment == b".." and kept:
            kept.pop()
        elif segment != b".":
            kept.append(segment)
    return b"".join([b"/", *(segment + b"/" for segment in kept[:-1] if segment), *kept[-1:]])


def _canonical_query(query: bytes) -> bytes:
    """In the order of its parameters, without session ids."""
    query = _escaped(_unescaped(query))
    for pattern in _SESSIONS_IN_QUERY:
        if found := pattern.match(query):
            query = found[1] + (found[2] or b"")
    query = query.lower()
    if len(query) <= 1:
        return query
    return b"&".join(b"=".join(parameter) for parameter in sorted(part.split(b"=", 1) for part in query.split(b"&")))


def _unescaped(text: bytes) -> bytes:
    """What was escaped twice, too."""
    while (plain := unquote_to_bytes(text)) != text:
        text = plain
    return text


def _escaped(text: bytes) -> bytes:
    return quote_from_bytes(text, safe=_KEPT).encode()
