"""The IP addresses that a crawler must not connect to: those inside private networks."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult

_RANGES = {
    "a cloud metadata": "169.254.169.254 169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.192 "
    "fd00:ec2::254 fd20:ce::254",
    "an unspecified": "0.0.0.0/8 ::",
    "a loopback": "127.0.0.0/8 ::1",
    "a link-local": "169.254.0.0/16 fe80::/10",
    "a carrier-grade NAT": "100.64.0.0/10",
    "a private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10 64:ff9b:1::/48",
    "a multicast": "224.0.0.0/4 ff00::/8",
    "a reserved": "192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 "
    "2001::/23 2001:db8::/32 3fff::/20",
}
_KINDS: list[tuple[IPv4Network | IPv6Network, str]] = [
    (ip_network(range_), kind) for kind, ranges in _RANGES.items() for range_ in ranges.split()
]
_NAT64 = IPv6Network("64:ff9b::/96")
_GLOBAL_IPV6 = IPv6Network("2000::/3")
"""All that has ever been allocated; the rest is reserved."""


class RefusedAddress(OSError):
    """A connection refused because of its address; an OSError like other connection errors."""


def kind_of(address: str) -> str:
    """Why the address is not public, as in "a loopback"; "" if it is public. No network access."""
    return _kind(ip_address(address))


def _kind(address: IPv4Address | IPv6Address) -> str:
    if isinstance(address, IPv6Address) and (inner := _embedded(address)):
        return _kind(inner)
    for range_, kind in _KINDS:
        if address in range_:
            return kind
    return "a reserved" if isinstance(address, IPv6Address) and address not in _GLOBAL_IPV6 else ""


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address to which a gateway would route it: mapped, 6to4 or NAT64."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def refusal(address: str) -> str:
    """A reason with its remedy; "" if the address is public."""
    kind = kind_of(address)
    return f"refused: {address} is {kind} address; allow it with --allow-private" if kind else ""


def literal_of(url: str) -> str:
    """The IP address in a normalised URL; "" if it has a host name to be resolved."""
    try:
        address = ip_address(urlsplit(url).hostname or "")
    except ValueError:
        return ""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(address) if mapped is None else f"::ffff:{mapped}"  # Before 3.13, Python writes it in other ways.


def refusal_of(url: str) -> str:
    """Of a normalised URL whose host is an address, or a name that always is this machine; "" for others, whose
    addresses must be looked up."""
    if address := literal_of(url):
        return refusal(address)
    host = urlsplit(url).hostname or ""
    return refusal("127.0.0.1") if host == "localhost" or host.endswith(".localhost") else ""


def is_this_machine(url: str) -> bool:
    address = literal_of(url)
    return ip_address(address).is_loopback if address else urlsplit(url).hostname == "localhost"


class PublicResolver(AbstractResolver):
    """Resolves names and removes addresses that are not public. As it resolves at connection time, DNS rebinding does
    not help."""

    def __init__(self, resolver: AbstractResolver) -> None:
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        public = [result for result in found if not kind_of(result["host"])]
        if found and not public:
            raise RefusedAddress(refusal(found[0]["host"]))
        return public

    async def close(self) -> None:
        await self._resolver.close()
