"""Interprets a response: a page, a redirect, or a failure, and whether that may be temporary."""

from __future__ import annotations

import errno
import re
import socket
import ssl
from dataclasses import replace
from datetime import UTC
from email.utils import parsedate_to_datetime

import aiohttp

from spoor.fetch.addresses import RefusedAddress
from spoor.fetch.http_parser import BrokenResponse, HeadTooLarge, OnlyHttp2, parse_head
from spoor.fetch.robots_text import is_challenge, is_page, text_of
from spoor.parse.apart import read_in_subprocess
from spoor.parse.documents import kind_of, read_answer
from spoor.parse.html import DEFAULT_OPTIONS, ParseOptions, with_rendering, with_robots_tags
from spoor.parse.link_base import LinkBase
from spoor.parse.sitemaps import read_sitemap
from spoor.records import Failure, Page, Redirect, Response, RobotsRules, SitemapFile, Visit
from spoor.robots import LONGEST_FILE, whole_lines

# Short reasons for failed requests, and whether they may be temporary.


HEALS_AFTER = 60.0
"""Seconds before a retry after a failure that may be temporary."""

_NAME_UNKNOWN = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
_OUR_SIDE = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ENETDOWN, errno.EADDRNOTAVAIL}
"""No file descriptor, memory, network device or port left: failures on our side."""
_CLOCK_OR_STORE = {2, 9, 10, 19, 20, 21}
"""Errors of OpenSSL's verification (X509_V_ERR_…): an issuer is unknown, not yet valid, expired."""
_REFUSES_HTTP_1 = "no application protocol"
"""In the text of a TLS error. Older Pythons know no code for it."""
_PLACE_IN_OPENSSL = re.compile(r"^\[[^]]*\] | \(_ssl\.c:\d+\)$")
_LONGEST = 320
"""Characters of a reason: room for what is wrong with a certificate, and the host name of 253 for which it is not."""


_ONLY_HTTP_2 = Failure("the server speaks only HTTP/2")


def failure_of(error: Exception) -> Failure:
    """For any exception of aiohttp caused by the network or a server; narrower kinds come first."""
    match error:
        case TimeoutError():
            return Failure("timed out", HEALS_AFTER, unanswered=True)
        case RefusedAddress():
            return Failure(str(error))
        case aiohttp.ClientConnectorDNSError():
            return _of_lookup(error.os_error)
        case aiohttp.ClientConnectorCertificateError():
            return _of_certificate(error.certificate_error)
        case aiohttp.ClientSSLError() | ssl.SSLError():
            return _of_tls(getattr(error, "os_error", error))
        case aiohttp.ClientProxyConnectionError():
            return Failure("proxy cannot be reached", HEALS_AFTER, here=True)
        case aiohttp.ClientHttpProxyError():
            return Failure(f"proxy answered {error.status}", HEALS_AFTER)
        case aiohttp.ClientConnectorError():
            return _of_connecting(error.os_error)
        case HeadTooLarge():
            return Failure("malformed response: its headers are too large", HEALS_AFTER)
        case OnlyHttp2():
            return _ONLY_HTTP_2
        case BrokenResponse():
            return Failure("broken answer: " + str(error), HEALS_AFTER)
        case aiohttp.ClientResponseError():
            return Failure("broken answer: " + _short(error.message), HEALS_AFTER)
        case ValueError():
            return Failure("cannot be asked for: " + _short(error))
        case _:
            return Failure("connection lost", HEALS_AFTER)


def _of_lookup(error: OSError) -> Failure:
    if isinstance(error, RefusedAddress):
        return Failure(str(error))
    if isinstance(error, socket.gaierror) and error.errno in _NAME_UNKNOWN:
        return Failure("no such host", unanswered=True)
    return Failure("host name cannot be looked up", HEALS_AFTER, unanswered=True)


def _of_tls(error: OSError) -> Failure:
    reason = _tls_reason(error)
    return _ONLY_HTTP_2 if _REFUSES_HTTP_1 in reason else Failure(f"TLS failed: {reason}", HEALS_AFTER)


def _tls_reason(error: Exception) -> str:
    """What OpenSSL says, without its prefix and the line of its source."""
    return _short(getattr(error, "verify_message", "") or _PLACE_IN_OPENSSL.sub("", str(error)))


def _of_certificate(error: Exception) -> Failure:
    is_checked_here = getattr(error, "verify_code", None) in _CLOCK_OR_STORE
    return Failure(
        "TLS certificate is not valid: " + _tls_reason(error),
        HEALS_AFTER,
        certificate="clock or CA store" if is_checked_here else "the host alone",
    )


def _of_connecting(error: OSError) -> Failure:
    if isinstance(error, ConnectionRefusedError):
        return Failure("connection refused", HEALS_AFTER, unanswered=True)
    return Failure(
        "cannot connect: " + _short(error.strerror or error),
        HEALS_AFTER,
        unanswered=True,
        here=error.errno in _OUR_SIDE,
    )


def _short(message: object) -> str:
    """The first line, without unprintable characters that a server may have sent."""
    line = next(iter(str(message).strip().splitlines()), "").rstrip(":")
    return "".join(character if character.isprintable() else " " for character in line[:_LONGEST])


# The outcome of a visit from its response: a page, a redirect, a failure, or the rules of a host.


LONGEST_DELAY = 86_400.0
"""The longest Retry-After that is accepted, in seconds."""

_LEAVE_ALONE = frozenset({429, 503})
_BEYOND_HTTP = 600
_MAY_HEAL = frozenset({408, 425, 429, *range(500, 600)})
NOT_MODIFIED = 304
_VALIDATOR = re.compile(r"[ -~]{1,200}")
"""Validators that are stored and sent back; servers may send anything."""


def understand(
    visit: Visit, response: Response, parse_options: ParseOptions = DEFAULT_OPTIONS, apart: bool = False
) -> Page | Redirect | Failure | RobotsRules | SitemapFile:
    """A pure function; never raises. `parse_options`: what to extract; `apart`: parse documents in another process,
    so that this one cannot die of them."""
    if response.status in _MAY_HEAL:
        return Failure(f"HTTP {response.status}", _delay(response), whole_host=pause_asked_by(response) is not None)
    if response.status == NOT_MODIFIED and conditions(visit.etag, visit.modified):
        return _unchanged(visit, response)
    if 300 <= response.status < 400 and (to := _location(response)):
        return Redirect(to, response.status, response.address if visit.purpose == "robots" else "")
    match visit.purpose:
        case "robots":
            return _rules(response)
        case "sitemap":
            return _sitemap(response)
        case "page":
            return _page(response, parse_options, apart)


def pause_asked_by(response: Response) -> float | None:
    """For how many seconds a server asks to be left alone; None if it does not."""
    return _delay(response) if response.status in _LEAVE_ALONE else None


def _page(response: Response, parse_options: ParseOptions, apart: bool) -> Page | Redirect | Failure:
    read = _refused(response) or _read(response, parse_options, apart)
    if isinstance(read, Failure):
        return read
    page = _with_header_directives(response, read)
    return Redirect(page.forwards_to, response.status) if page.forwards_to else page


def _sitemap(response: Response) -> SitemapFile | Failure:
    """A truncated sitemap is used as far as it was received."""
    found = _refused(response) or read_sitemap(response.url, response.body)
    if isinstance(found, SitemapFile) and response.cut:
        return replace(found, cut=found.cut or f"not whole: {response.cut}")
    return found


def _refused(response: Response) -> Failure | None:
    """None if there is a body to parse."""
    if 200 <= response.status < 300:
        return None
    if 300 <= response.status < 400:
        return Failure(f"HTTP {response.status} has no valid target")
    return Failure(f"HTTP {response.status}")


def _read(response: Response, parse_options: ParseOptions, apart: bool) -> Page | Failure:
    content_type = response.headers.get("content-type", "")
    if response.rendering is not None:  # Links of the response and of the rendering are merged with their contexts.
        parse_options = replace(parse_options, contexts_later=False)
    read = read_in_subprocess if apart else read_answer
    page = read(response.url, response.body, content_type, response.status, parse_options)
    if isinstance(page, Failure) and response.cut not in ("", "type"):
        return Failure(f"{kind_of(response.body, content_type)}: truncated: {response.cut}")
    if isinstance(page, Page) and response.rendering is not None and response.rendering.html:
        return with_rendering(page, response.rendering, parse_options)
    return page


def _with_header_directives(response: Response, page: Page) -> Page:
    """X-Robots-Tag may occur several times, so the first is not enough."""
    if "x-robots-tag" not in response.headers:
        return page
    return with_robots_tags(page, header_values(response, "x-robots-tag"))


def header_values(response: Response, name: str) -> list[str]:
    """The values of a header that may occur several times; `name` is in lower case."""
    return parse_head(response.head).headers.all(name)


def _rules(response: Response) -> RobotsRules | Failure:
    """RFC 9309: a file that does not exist, or may not be read, disallows nothing; a truncated file might, and so might
    one that redirects to an invalid URL, or a status that no standard knows. A page that asks for a proof of humanity
    says that the server cannot be asked now; any other page in its place is no file."""
    if 300 <= response.status < 400:
        return Failure(f"HTTP {response.status} has no valid target", HEALS_AFTER)
    if response.status >= _BEYOND_HTTP:
        return Failure(f"HTTP {response.status}", HEALS_AFTER)
    if is_challenge(response, text := text_of(response.body)):
        return Failure("a challenge instead of robots.txt", _delay(response), whole_host=True)
    if not 200 <= response.status < 300:
        return RobotsRules(address=response.address)
    if response.cut not in ("", "length"):
        return Failure(f"robots.txt is truncated: {response.cut}", HEALS_AFTER)
    if is_page(response, text):
        text = ""
    is_whole = not response.cut and len(response.body) <= LONGEST_FILE
    etag, modified = validators(response)
    return RobotsRules(text if is_whole else whole_lines(text), response.address, etag=etag, modified=modified)


def conditions(etag: str, modified: str) -> dict[str, str]:
    """Headers of a conditional request; none without validators."""
    said = {"If-None-Match": etag, "If-Modified-Since": modified}
    return {name: value for name, value in said.items() if _VALIDATOR.fullmatch(value)}


def _unchanged(visit: Visit, response: Response) -> RobotsRules:
    etag, modified = validators(response)
    return RobotsRules("", response.address, False, etag or visit.etag, modified or visit.modified, unchanged=True)


def validators(response: Response) -> tuple[str, str]:
    """ETag and Last-Modified."""
    etag, modified = response.headers.get("etag", ""), response.headers.get("last-modified", "")
    return etag if _VALIDATOR.fullmatch(etag) else "", modified if _VALIDATOR.fullmatch(modified) else ""


def _location(response: Response) -> str | None:
    location = response.headers.get("location", "").strip()
    return LinkBase(response.url).join(location) if location else None


def _delay(response: Response) -> float:
    """Retry-After, given in seconds or as a date, limited to `LONGEST_DELAY`."""
    said = response.headers.get("retry-after", "").strip()
    seconds = float(said) if said.isdecimal() else _seconds_until(said, response.at)
    return HEALS_AFTER if seconds is None else min(max(seconds, 1.0), LONGEST_DELAY)


def _seconds_until(date: str, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now
    except (ValueError, TypeError, OverflowError):
        return None
