"""Which domain did somebody register to have this host?"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from tldextract import TLDExtract

_PORT = re.compile(r":\d+\Z")


@cache
def _suffixes() -> TLDExtract:
    """The public suffix list that comes with the library, private suffixes (github.io) included as browsers do.
    Nothing is downloaded, nothing is written."""
    return TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)


@lru_cache(maxsize=100_000)
def registrable_domain(host: str) -> str:
    """`example.co.uk` for `www.example.co.uk:8080`. An address or a suffix by itself is its own domain; below a suffix
    that is not listed, as in `www.a.test`, the last two labels count."""
    host = _PORT.sub("", host)
    found = _suffixes()(host)
    if found.suffix or found.domain == host:
        return found.top_domain_under_public_suffix or host
    return ".".join(host.split(".")[-2:])
