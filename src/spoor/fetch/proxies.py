"""Which proxy a request goes through: none, one for all, or those that the environment names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from spoor.checks import FROM_ENVIRONMENT
from spoor.errors import UsageError
from spoor.urls import normalise

_FOR_ALL = "all"
_SCHEMES = ("http", "https")
_LOGIN = re.compile(r"(?:(?<=//)|\A)[^/]*@")


@dataclass(frozen=True)
class Proxies:
    """`by_scheme` has the URL of the proxy for http and for https, if there is one. `exempt` are hosts that are asked
    directly, as in NO_PROXY: names with all below them, optionally with a port; IP addresses and networks; `*`."""

    by_scheme: Mapping[str, str] = field(default_factory=dict)
    exempt: tuple[str, ...] = ()

    @staticmethod
    def to(url: str) -> Proxies:
        """One proxy for everything."""
        return Proxies(dict.fromkeys(_SCHEMES, url))

    @staticmethod
    def of(setting: str, environment: Mapping[str, str]) -> Proxies:
        """`setting` is a URL, "env" or "". Raises UsageError if the environment names a proxy of another kind."""
        if setting != FROM_ENVIRONMENT:
            return Proxies.to(setting) if setting else Proxies()
        by_scheme = {scheme: _named_for(scheme, environment) for scheme in _SCHEMES}
        _, exempt = _variable("no_proxy", environment)
        return Proxies(
            {scheme: url for scheme, url in by_scheme.items() if url},
            tuple(name for part in exempt.split(",") if (name := part.strip().lower())),
        )

    def of_origin(self, origin: str) -> str:
        """The proxy for an origin such as `https://example.org`; "" if it is asked directly."""
        if not self.by_scheme:
            return ""
        parts = urlsplit(origin)
        return "" if self._exempts(parts.hostname or "", parts.port) else self.by_scheme.get(parts.scheme, "")

    def _exempts(self, host: str, port: int | None) -> bool:
        return any(_matches(name, host, port) for name in self.exempt)


DIRECT = Proxies()


def named_proxies(environment: Mapping[str, str]) -> Iterator[str]:
    """The variables that name proxies, as in `HTTPS_PROXY=http://proxy:3128`, without passwords."""
    for scheme in (*_SCHEMES, _FOR_ALL):
        name, value = _variable(f"{scheme}_proxy", environment)
        if value:
            yield f"{name}={_without_login(value)}"


def _variable(name: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Its name as it is set, and its value, "" if it is not set; small letters count first, as elsewhere."""
    found = next((each for each in (name, name.upper()) if environment.get(each, "").strip()), name.upper())
    return found, environment.get(found, "").strip()


def _named_for(scheme: str, environment: Mapping[str, str]) -> str:
    """The URL of the proxy; "" if none is named."""
    for kind in (scheme, _FOR_ALL):
        name, value = _variable(f"{kind}_proxy", environment)
        if value:
            return _checked(name, value)
    return ""


def _checked(name: str, value: str) -> str:
    url = value if "://" in value else f"http://{value}"
    if normalise(url) is None:
        problem = f"{name}={_without_login(value)}: only http and https proxies can be used"
        raise UsageError(f"{problem}; unset it, or give --proxy the URL of one")
    return url


def _without_login(value: str) -> str:
    return _LOGIN.sub("…@", value)


def _matches(name: str, host: str, port: int | None) -> bool:
    if name == "*":
        return True
    try:
        return ip_address(host) in ip_network(name, strict=False)
    except ValueError:
        name = name.removeprefix("*").lstrip(".")
        known, _, its_port = name.partition(":")
        return (host == known or host.endswith(f".{known}")) and its_port in ("", str(port))
