"""Access control and security headers of the dashboard, all in one place.

- Requests with another Host header are refused, which prevents DNS rebinding.
- An address that other machines can reach requires a token; it is in the link printed at the start, then in a cookie.
- Requests that change something need the CSRF token from `/api/v1/session`, which only the dashboard's origin can read.
- Nothing may be embedded, no foreign content is loaded, and only the dashboard's own script files run. Archived pages
  have a stricter policy: no scripts, no origin, no network.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

COOKIE = "spoor_token"
CSRF_HEADER = "X-Spoor-CSRF"
OPEN = frozenset(("/healthz",))
"""Paths that need no token, because they reveal nothing about a crawl."""
SAFE = frozenset(("GET", "HEAD"))
LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))
WILDCARDS = frozenset(("0.0.0.0", "::"))

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PREVIEW_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


@dataclass(frozen=True)
class Guard:
    """`address` is the address that the server is bound to. `token` is "" if none is needed, because only this machine
    can connect."""

    address: str
    token: str
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @staticmethod
    def of(address: str) -> Guard:
        return Guard(address, "" if is_loopback(address) else secrets.token_urlsafe(32))

    def refusal(self, request: web.Request) -> web.Response | None:
        """None if the request is allowed."""
        if not self._is_named(request.headers.get("Host", "")):
            return _refused(421, "this server does not answer for that host name")
        if request.path not in OPEN and self.token and not self._has_token(request):
            return _refused(401, "open the printed link with the token, or send the token as a bearer token")
        if request.method not in SAFE and (problem := self._forged(request)):
            return _refused(403, problem)
        return None

    def opens_with(self, token: str) -> bool:
        return bool(self.token) and hmac.compare_digest(token.encode(), self.token.encode())

    def _is_named(self, header: str) -> bool:
        name = _name_in(header)
        if name in LOOPBACK or name == self.address.lower():
            return True
        return self.address in WILDCARDS and (_is_ip(name) or name == socket.gethostname().lower())

    def _has_token(self, request: web.Request) -> bool:
        scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
        given = bearer.strip() if scheme.lower() == "bearer" else request.cookies.get(COOKIE, "")
        return self.opens_with(given) or (request.path == "/" and self.opens_with(request.query.get("token", "")))

    def _forged(self, request: web.Request) -> str:
        """Why a request that changes something does not come from the dashboard's page or from a program; "" if it
        does."""
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.headers.get("Host", ""):
            return "this request comes from another site"
        if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            return "this request comes from another site"
        if request.content_type != "application/json":
            return "an action must be sent as application/json"
        given = request.headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(given.encode(), self.csrf.encode()):
            return f"the header {CSRF_HEADER} must contain the token from /api/v1/session"
        return ""


def is_loopback(address: str) -> bool:
    if address == "localhost":
        return True
    return _is_ip(address) and ipaddress.ip_address(address).is_loopback


def middleware(guard: Guard) -> Middleware:
    """Checks every request and secures every response."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            answer: web.StreamResponse = guard.refusal(request) or await handler(request)
        except web.HTTPException as error:
            answer = _refused(error.status, error.reason)
        if not answer.prepared:
            secure(answer)
        return answer

    return guarded


def secure(answer: web.StreamResponse) -> None:
    """Sets the security headers. Streams call this themselves, before they begin."""
    for name, value in HEADERS.items():
        answer.headers[name] = value
    answer.headers.setdefault("Content-Security-Policy", PAGE_POLICY)
    answer.headers.setdefault("Cache-Control", "no-store")


def _refused(status: int, problem: str) -> web.Response:
    return web.json_response({"error": problem}, status=status)


def _name_in(header: str) -> str:
    """The host name without the port, which may be that of a tunnel."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


def _is_ip(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
