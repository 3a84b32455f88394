"""Why did a request fail, in a few words, and may it heal?"""

from __future__ import annotations

import errno
import socket
import ssl

import aiohttp

from spoor.fetch.addresses import RefusedAddress
from spoor.records import Failure

HEALS_AFTER = 60.0
"""Seconds of rest before what may heal is tried again."""

_NAME_UNKNOWN = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
_OUR_SIDE = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ENETDOWN, errno.EADDRNOTAVAIL}
"""No file descriptor, no memory, no network device, no port left: no host is to blame."""
_LONGEST = 100


def failure_of(error: Exception) -> Failure:
    """Of anything that aiohttp raises for what the network or a server did; the narrower kinds come first."""
    match error:
        case TimeoutError():
            return Failure("timed out", HEALS_AFTER, unanswered=True)
        case aiohttp.ClientConnectorDNSError():
            return _of_lookup(error.os_error)
        case aiohttp.ClientConnectorCertificateError():
            return Failure("TLS certificate is not valid: " + _short(error.certificate_error))
        case aiohttp.ClientSSLError() | ssl.SSLError():
            return Failure("TLS failed: " + _short(getattr(error, "os_error", error)), HEALS_AFTER)
        case aiohttp.ClientProxyConnectionError():
            return Failure("proxy cannot be reached", HEALS_AFTER, here=True)
        case aiohttp.ClientHttpProxyError():
            return Failure(f"proxy answered {error.status}", HEALS_AFTER)
        case aiohttp.ClientConnectorError():
            return _of_connecting(error.os_error)
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
    """The first line, without what a server may have put there to be shown."""
    line = next(iter(str(message).strip().splitlines()), "").rstrip(":")
    return "".join(character if character.isprintable() else " " for character in line[:_LONGEST])
