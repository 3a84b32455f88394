"""What of this machine's surroundings bears on every request, and would otherwise be seen only in failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spoor.checks import FROM_ENVIRONMENT
from spoor.fetch.certificates import missing_store
from spoor.fetch.proxies import named_proxies


def remarks(proxy: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Lines for the user, at the start of whatever asks the web. `proxy` is the setting of that name."""
    named = ", ".join(named_proxies(environment))
    if proxy == FROM_ENVIRONMENT and named:
        unchecked = "they look up the names of hosts, so private addresses are refused only where a URL names one"
        yield f"requests go through the proxies of the environment, {named}; {unchecked}"
    elif proxy == FROM_ENVIRONMENT:
        yield "requests go directly: none of HTTP_PROXY, HTTPS_PROXY and ALL_PROXY is set, which --proxy env asks for"
    elif not proxy and named:
        yield f"{named} is set and not used: requests go directly; --proxy env sends them through it"
    if missing := missing_store():
        yield missing
