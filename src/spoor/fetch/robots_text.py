"""From the body of a robots.txt to its text: compressed or not, in any encoding, or not a robots.txt at all."""

from __future__ import annotations

import codecs
import re

from spoor.fetch.decoding import decoded
from spoor.parse.html import is_html
from spoor.records import Response
from spoor.robots import LONGEST_FILE, has_rules

_GZIP = b"\x1f\x8b"
_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_MOST_BYTES_OF_MARK = 1 << 10
"""Bytes checked for UTF-16 without a byte order mark."""
_STRANGE = re.compile("[\udc80-\udcff]+")
"""Bytes that are not UTF-8, as Python represents them."""
_CHALLENGE = re.compile(
    rb"<title>\s*(?:just a moment|attention required!|one moment, please|access denied|ddos-guard|"
    rb"checking your browser|verifying you are human|robot challenge|security check|are you a robot|"
    rb"pardon our interruption|client challenge|human verification|captcha)|"
    rb"/cdn-cgi/challenge-platform/|_cf_chl_opt|challenges\.cloudflare\.com|window\.awsWafCookieDomainList|"
    rb"captcha-delivery\.com|px-captcha|_Incapsula_Resource|g-recaptcha|h-captcha|hcaptcha\.com|sucuri_cloudproxy",
    re.IGNORECASE,
)
"""Marks of the pages by which services against robots ask for a proof that a person is there."""
_CHALLENGE_HEADERS = {"cf-mitigated": "challenge", "x-amzn-waf-action": "challenge", "x-datadome": "protected"}


def text_of(body: bytes) -> str:
    """Bytes that are not in the encoding of the file become escapes, as which they occur in URLs."""
    body = _unpacked(body)[:LONGEST_FILE]
    if name := _utf_16(body):
        return body.decode(name, "replace").removeprefix("\ufeff")
    text = body.lstrip(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
    return text if text.isascii() else _STRANGE.sub(_escaped, text)


def _unpacked(body: bytes) -> bytes:
    """A file stored compressed may be sent so without a word."""
    return decoded(body, "gzip", LONGEST_FILE) if body.startswith(_GZIP) else body


def _utf_16(body: bytes) -> str:
    """ "" for another encoding. Without a mark, one byte of every ASCII character is zero, always on the same side."""
    if name := _UTF_16.get(body[:2]):
        return name
    head = body[:_MOST_BYTES_OF_MARK]
    first, second = head[::2].count(0), head[1::2].count(0)
    if max(first, second) * 4 < len(head) or min(first, second) or not head:
        return ""
    return "utf-16-be" if first else "utf-16-le"


def _escaped(strange: re.Match[str]) -> str:
    """A no-break space by itself is white space, as in all charsets of Europe."""
    if strange[0] == "\udca0":
        return " "
    return "".join(f"%{ord(char) - 0xDC00:02X}" for char in strange[0])


def is_challenge(response: Response, text: str) -> bool:
    """Whether the response asks for a proof that a person is there, in place of the `text` of a robots.txt."""
    if any(response.headers.get(name, "").lower() == value for name, value in _CHALLENGE_HEADERS.items()):
        return True
    return is_page(response, text) and _CHALLENGE.search(response.body[:LONGEST_FILE]) is not None


def is_page(response: Response, text: str) -> bool:
    """Whether the body is HTML without a line that is a rule."""
    sent_as = response.headers.get("content-type", "")
    return (is_html(response.body, sent_as) or is_html(response.body, "")) and not has_rules(text)
