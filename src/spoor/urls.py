"""Normalises and resolves URLs, generates similar ones, and finds the registrable domain of a host."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from itertools import accumulate

from can_ada import parse
from tldextract import TLDExtract

# The registrable domain of a host.


_PORT = re.compile(r":\d+\Z")


@cache
def _suffixes() -> TLDExtract:
    """The public suffix list that comes with the library, including private suffixes (github.io), as in browsers.
    Nothing is downloaded or written."""
    return TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)


@lru_cache(1 << 15)
def registrable_domain(host: str) -> str:
    """`example.co.uk` for `www.example.co.uk:8080`. An IP address or a suffix by itself is its own domain; below a
    suffix that is not listed, as in `www.a.test`, the last two labels count."""
    host = _PORT.sub("", host)
    found = _suffixes()(host)
    if found.suffix or found.domain == host:
        return found.top_domain_under_public_suffix or host
    return ".".join(host.split(".")[-2:])


# Normalising and resolving URLs; similar URLs.


INDEX_FILES = (
    "index.html",
    "index.htm",
    "index.shtml",
    "index.php",
    "index.asp",
    "index.jsp",
    "default.html",
    "default.htm",
    "default.asp",
    "home.html",
    "home.htm",
    "welcome.html",
    "welcome.htm",
    "Welcome.html",
    "Default.htm",
)
"""Index files of folders, the likelier first."""

TRACKING = frozenset(
    {
        "gclid",
        "gclsrc",
        "dclid",
        "gbraid",
        "wbraid",
        "fbclid",
        "igshid",
        "igsh",
        "msclkid",
        "yclid",
        "ysclid",
        "twclid",
        "ttclid",
        "li_fat_id",
        "mc_cid",
        "mc_eid",
        "mkt_tok",
        "_ga",
        "_gl",
        "_hsenc",
        "_hsmi",
        "__hssc",
        "__hstc",
        "__hsfp",
        "hsctatracking",
        "vero_id",
        "oly_anon_id",
        "oly_enc_id",
        "wickedid",
        "s_kwcid",
        "ef_id",
        "srsltid",
        "_openstat",
    }
)
"""Parameters that record the source of a visit and do not affect the page; likewise all that begin with `utm_`."""

SESSIONS = frozenset({"phpsessid", "jsessionid", "aspsessionid", "cfid", "cftoken", "oscsid", "zenid"})
"""Parameters that always are session ids."""

PERHAPS_SESSIONS = frozenset({"sid", "s", "sess", "sessid", "session", "sessionid", "session_id", "sectok"})
"""Parameters that are session ids if their value looks like a token."""

_SPACE_AND_CONTROLS = "".join(map(chr, range(0x21)))
_TABS_AND_LINE_ENDS = re.compile(r"[\t\n\r]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_UNRESERVED = "(?:2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])"
"""Escapes of letters, digits and `-._~`, which mean the same as the character (RFC 3986)."""
_IS_UNRESERVED = re.compile(f"%{_UNRESERVED}")
_OTHERWISE_SPELT = re.compile(f"%(?:[a-f][0-9a-fA-F]|[0-9A-F][a-f]|{_UNRESERVED})")
_TOKEN = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[0-9A-Za-z_-]{16,}|[0-9]{20,}")
_SESSION_IN_PATH = re.compile(r"(?:;|%3B)(?:jsessionid|phpsessid)=[^/;]*|/\(S\([0-9a-z]{24}\)\)(?=/)", re.IGNORECASE)
_SORTED_LISTING = re.compile(r"C=[NMSD][;&]O=[AD]")
"""Another order of the same listing of a folder: by name, time, size or description, as Apache, lighttpd and nginx with
fancyindex link to them from every listing."""
_SUFFIX = ".html"
_INDEX_NAMES = frozenset(name.lower() for name in INDEX_FILES)
_KEPT = r"-\w~!$&()*+,;=@."  # Characters that are never escaped, neither in paths nor in queries.
_ESCAPED = rf"(?:%(?!{_UNRESERVED})[0-9A-F]{{2}}[{_KEPT}:]*+)*+"
_SEGMENT = rf"/(?![./])[{_KEPT}:]*+{_ESCAPED}"
_PLAIN = re.compile(
    rf"((?:(https?://[a-z0-9.:-]{{1,260}}+)?+((?:{_SEGMENT})++)|\w[{_KEPT}]*+{_ESCAPED}(?:{_SEGMENT})*+)"
    rf"(?:\?[{_KEPT}:/?]*+(?:%(?!{_UNRESERVED})[0-9A-F]{{2}}[{_KEPT}:/?]*+)*+)?+)(?:#[!-~]*+)?+",
    re.ASCII,
)
"""A reference that is in normal form already, except for its host: nothing to escape, no dot segments. Its groups: all
but the fragment; scheme and host; the path from the root."""


def normalise(url: str) -> str | None:
    """The normal form of an absolute http or https URL; None for anything else.

    As in browsers (WHATWG), but without fragment, user and password, and without the dot after a host; with percent
    escapes in upper case, and only of characters that need them.
    """
    try:
        parsed = parse(url)
    except (ValueError, TypeError):  # TypeError: a lone surrogate, which is not text
        return None
    if parsed.protocol not in ("http:", "https:"):
        return None
    if parsed.has_credentials():
        parsed.username = parsed.password = ""
    href: str = parsed.href
    if "#" in href:
        href = href[: href.index("#")]
    if "%" in href:
        href = _OTHERWISE_SPELT.sub(_respelt, href)
    if "/." in href:
        href = _without_dot_segments(href)
    end = href.index("/", 8)
    return _without_last_dot(href, end) if href[end - 1] == "." or ".:" in href[:end] else href


def _respelt(escape: re.Match[str]) -> str:
    """Not after an incomplete escape: that would make one of it."""
    written, before = escape[0].upper(), escape.string[max(0, escape.start() - 2) : escape.start()]
    return chr(int(written[1:], 16)) if _IS_UNRESERVED.fullmatch(written) and "%" not in before else written


def _without_last_dot(url: str, end: int) -> str:
    """`example.org.` is the same host as `example.org`. One that ends in several dots cannot be looked up anyway."""
    start = url.index("/") + 2
    name, colon, port = url[start:end].partition(":")
    bare = name[:-1]
    return url if not bare or bare.endswith(".") else f"{url[:start]}{bare}{colon}{port}{url[end:]}"


def _without_dot_segments(url: str) -> str:
    """Also done here: can_ada 3.0 leaves them in a path that has a name like `.hidden` before them."""
    before, mark, query = url.partition("?")
    start = before.index("/", 8)
    kept: list[str] = []
    for segment in before[start + 1 :].split("/"):
        dots = segment.lower().replace("%2e", ".")
        if dots == ".." and kept:
            kept.pop()
        if dots not in (".", ".."):
            kept.append(segment)
    if dots in (".", ".."):
        kept.append("")
    return before[: start + 1] + "/".join(kept) + mark + query


def canonical(url: str) -> str:
    """A normalised URL without what does not affect the page: tracking parameters, session ids, the order of a listing,
    an empty query.

    For live crawls. The other parameters keep their order and spelling, because some servers depend on it.
    """
    if "?" not in url and ";" not in url and "(" not in url and "%3B" not in url:
        return url
    path, _, query = url.partition("?")
    if "%3B" in path or ";" in path or "(" in path:
        bare = _SESSION_IN_PATH.sub("", path)
        path = path if bare == path else normalise(bare) or path
    if path.endswith("/") and _SORTED_LISTING.fullmatch(query):
        return path
    kept = "&".join(part for part in query.split("&") if not _is_noise(part))
    return f"{path}?{kept}" if kept else path


def _is_noise(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    name = name.lower()
    if name in PERHAPS_SESSIONS:
        return _TOKEN.fullmatch(value) is not None
    return name.startswith("utm_") or name in TRACKING or name in SESSIONS


def join(base: str, href: str) -> str | None:
    """Resolves `href` against the normalised URL `base`. None if the result is not an http or https URL."""
    if plain := _PLAIN.fullmatch(href):  # Most are; parsing them would take three times as long.
        bare, origin, rooted = plain.groups()
        if origin is None:
            return (origin_of(base) if rooted else _folder_of(base)) + bare
        if _is_normal(origin):
            return bare
    return _join_any(base, href)


@lru_cache(1 << 12)
def _is_normal(origin: str) -> bool:
    return normalise(f"{origin}/") == f"{origin}/"


def _join_any(base: str, href: str) -> str | None:
    href = bare_reference(href)
    scheme = _SCHEME.match(href)
    if scheme is None:
        return _join_relative(base, href)
    rest = href[scheme.end() :]
    # `http:page.html` on an http page is relative: an old form that browsers still support.
    if base.startswith(scheme[0].lower()) and not rest.replace("\\", "/").startswith("//"):
        return _join_relative(base, rest)
    return normalise(href)


def bare_reference(href: str) -> str:
    """Without what browsers ignore: space around it, tabs and line ends."""
    href = href.strip(_SPACE_AND_CONTROLS)
    return _TABS_AND_LINE_ENDS.sub("", href) if "\n" in href or "\t" in href or "\r" in href else href


def _join_relative(base: str, href: str) -> str | None:
    first = href[:1]
    if first in "/\\" and first:
        if href[1:2] in ("/", "\\"):
            return normalise(base[: base.index(":") + 1] + href)
        return normalise(base[: base.index("/", 8)] + href)
    if not first or first == "#":
        return base
    if first == "?":
        return normalise(base.partition("?")[0] + href)
    return normalise(_folder_of(base) + href)


def _folder_of(url: str) -> str:
    path = url.partition("?")[0]
    return path[: path.rindex("/") + 1]


def host_of(url: str) -> str:
    """The host of a normalised URL, with its port unless that is the default."""
    return url[url.index("/") + 2 : url.index("/", 8)]


def host_named(text: str) -> str:
    """In the spelling of normalised URLs. Raises ValueError with a message that says what is allowed."""
    url = normalise(f"http://{text}/")
    if url is None or url != f"http://{host_of(url)}/":
        raise ValueError(f"{text[:200]!r} is not the name of a host, such as www.example.org")
    return host_of(url)


def origin_of(url: str) -> str:
    """Scheme, host and port of a normalised URL, `https://example.org`."""
    return url[: url.index("/", 8)]


def robots_url(url: str) -> str:
    """The URL of the robots.txt for a normalised URL: each origin has its own."""
    return origin_of(url) + "/robots.txt"


def near_misses(url: str) -> Iterator[str]:
    """Other URLs under which a recording may contain the page of a normalised URL, closest first.

    They differ in the trailing slash, index file or `.html`, in http or https, in `www.`, or in several of these.
    """
    scheme, _, rest = url.partition("://")
    host, slash, tail = rest.partition("/")
    schemes = (scheme, "https" if scheme == "http" else "http")
    hosts = (host, host[4:] if host.startswith("www.") else "www." + host)
    paths = (slash + tail, *_other_paths(slash + tail))
    for changes in range(1, 4):
        for s, h in ((0, 0), (1, 0), (0, 1), (1, 1)):
            if s + h == changes:
                yield f"{schemes[s]}://{hosts[h]}{paths[0]}"
            elif s + h == changes - 1:
                yield from (f"{schemes[s]}://{hosts[h]}{path}" for path in paths[1:])


def _other_paths(path: str) -> Iterator[str]:
    """The same page with another ending; none for a path with a query."""
    if "?" in path:
        return
    folder, _, name = path.rpartition("/")
    if name.lower() in _INDEX_NAMES:
        yield folder + "/"
    elif name:
        folder = path
        yield path + "/"
    if folder and folder != path:
        yield folder
    yield from (variant for index in INDEX_FILES if (variant := f"{folder}/{index}") != path)
    yield from _with_other_suffix(path)


def _with_other_suffix(path: str) -> Iterator[str]:
    """`/x.html` for `/x` and the other way round; never to or from an index file."""
    name = path.rpartition("/")[2]
    stem = name.removesuffix(_SUFFIX)
    if not stem or stem.endswith(_SUFFIX) or {name.lower(), f"{stem}{_SUFFIX}".lower()} & _INDEX_NAMES:
        return
    yield f"{path}{_SUFFIX}" if stem == name else path.removesuffix(_SUFFIX)


def first_within(urls: Collection[str], max_characters: int) -> int:
    """How many of the first URLs have at most so many characters together."""
    if sum(map(len, urls)) <= max_characters:
        return len(urls)
    return bisect_right(list(accumulate(map(len, urls))), max_characters)


def difference(url: str, near_miss: str) -> str:
    """How a near miss differs, in words: `ending`, `scheme`, `www`, or several joined by ` and `."""
    (scheme, host, path), (other_scheme, other_host, other_path) = _parts(url), _parts(near_miss)
    kinds = {"ending": path != other_path, "scheme": scheme != other_scheme, "www": host != other_host}
    return " and ".join(kind for kind, differs in kinds.items() if differs)


def _parts(url: str) -> tuple[str, str, str]:
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    return scheme, host, path
