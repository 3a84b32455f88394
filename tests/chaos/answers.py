"""Sound HTTP that says odd things: statuses, headers, redirects, and webs without end."""

from __future__ import annotations

from datetime import date, timedelta

from tests.chaos.server import Behaviours, Exchange, says

LONG = "x" * 60_000
FOUND = "302 Found"


async def _calendar(exchange: Exchange) -> None:
    """Each day links to the next and to the one a year later: an endless web."""
    day = date.fromisoformat(exchange.query.get("day", "2000-01-01"))
    later = [day + timedelta(days=days) for days in (1, 365)]
    links = "".join(f"<a href='/calendar?day={other}'>{other}</a> " for other in later)
    await exchange.answer(f"<title>{day}</title>Nothing on {day}. {links}".encode())


async def _sessions(exchange: Exchange) -> None:
    """Each page links to itself under ever other names."""
    number = int(exchange.query.get("n", "0"))
    links = "".join(f"<a href='/sessions?n={number * 7 + n}&sid={'0a' * 12}{number}{n}'>go on</a>" for n in range(9))
    await exchange.answer(f"<title>Welcome</title>The same for everybody. {links}".encode())


async def _redirect_chain(exchange: Exchange) -> None:
    """`?left=3` leads over two more to a page."""
    left = int(exchange.query.get("left", "5"))
    to = f"/redirect-chain?left={left - 1}" if left else "/"
    await exchange.answer(b"", f"Location: {to}", status="301 Moved Permanently")


async def _redirect_growing(exchange: Exchange) -> None:
    """Never to the same place."""
    await exchange.answer(b"", f"Location: {exchange.target}&more={len(exchange.target)}", status=FOUND)


async def _redirect_to(exchange: Exchange) -> None:
    await exchange.answer(b"", f"Location: {exchange.query.get('to', '/plain')}", status=FOUND)


async def _redirect_beside(exchange: Exchange) -> None:
    """To the next host, which does the same."""
    host, _, port = exchange.writer.get_extra_info("sockname")[0].rpartition(".")
    at = exchange.writer.get_extra_info("sockname")[1]
    await exchange.answer(b"", f"Location: http://{host}.{int(port) % 254 + 1}:{at}/redirect/beside", status=FOUND)


ANSWERS: Behaviours = {
    "/calendar": _calendar,
    "/cookie": says(b"ok", "Set-Cookie: session=1", "Set-Cookie: second=2"),
    "/image": says(b"\x89PNG" * 1000, "Content-Type: image/png"),
    "/plain": says(b"<title>Plain</title>Nothing wrong here."),
    "/redirect-chain": _redirect_chain,
    "/redirect-loop": says(b"", "Location: /redirect-loop", status=FOUND),
    "/redirect-nowhere": says(b"", status=FOUND),
    "/redirect-to": _redirect_to,
    "/redirect/beside": _redirect_beside,
    "/redirect/growing": _redirect_growing,
    "/redirect/long": says(b"", f"Location: /{LONG}", status=FOUND),
    "/redirect/to-a-fragment": says(b"", "Location: #here", status=FOUND),
    "/redirect/to-a-script": says(b"", "Location: javascript:alert(1)", status=FOUND),
    "/redirect/to-a-file": says(b"", "Location: file:///etc/passwd", status=FOUND),
    "/redirect/to-data": says(b"", "Location: data:text/html,<a href=http://x.test/>x</a>", status=FOUND),
    "/redirect/to-port-0": says(b"", "Location: http://127.0.0.1:0/", status=FOUND),
    "/redirect/to-port-99999": says(b"", "Location: http://127.0.0.1:99999/", status=FOUND),
    "/redirect/with-password": says(b"", "Location: http://user:password@127.0.0.1:1/", status=FOUND),
    "/redirect/with-bytes": says(b"", "Location: /\xff\xfe\x80", status=FOUND),
    "/redirect/with-slashes": says(b"", "Location: ///////", status=FOUND),
    "/redirect/twice": says(b"", "Location: /plain", "Location: /cookie", status=FOUND),
    "/retry/5000-digits": says(b"", "Retry-After: " + "9" * 5000, status="503 Service Unavailable"),
    "/retry/in-the-past": says(b"", "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT", status="503 Service Unavailable"),
    "/retry/in-no-year": says(b"", "Retry-After: Fri, 31 Dec 9999999 23:59:59 GMT", status="429 Too Many Requests"),
    "/retry/negative": says(b"", "Retry-After: -1", status="429 Too Many Requests"),
    "/sessions": _sessions,
    "/status/not-modified": says(b"", status="304 Not Modified"),
    "/status/partial": says(b"<p>a part", "Content-Range: bytes 5-13/99", status="206 Partial Content"),
    "/status/teapot": says(b"<a href=/plain>x</a>", status="418 I'm a teapot"),
    "/status/with-location": says(b"<a href=/plain>x</a>", "Location: /plain"),
    "/too-many-requests": says(b"", "Retry-After: 7", status="429 Too Many Requests"),
    "/type/none": says(b"<p>x", "Content-Type:"),
    "/type/long": says(b"<p>x", f"Content-Type: text/html; charset={LONG}"),
    "/type/blanks": says(b"<p>x", f"Content-Type: text/html; charset={' ' * 60_000};"),
    "/type/xml-that-laughs": says(
        b"<?xml version='1.0'?><!DOCTYPE l [<!ENTITY a 'ha'>"
        + b"".join(b"<!ENTITY %c '%s'>" % (c + 1, b"&%c;" % c * 10) for c in range(97, 106))
        + b"]><html><body>&j;</body></html>",
        "Content-Type: application/xhtml+xml",
    ),
    "/type/html-called-image": says(b"<a href=/plain>x</a>", "Content-Type: image/png"),
    "/unavailable": says(b"", status="503 Service Unavailable"),
    "/wishes/long": says(b"<a href=/plain>x</a>", "X-Robots-Tag: " + "spoor: noindex, " * 3_000),
}  # fmt: skip
"""HTTP is spoken as it should be, whatever it says."""
