"""Who is behind a proxy: the address in X-Forwarded-For, believed only from proxies that the operator names."""

import ipaddress
from collections.abc import Iterable
from functools import lru_cache

from deniable.collector.service import Client, Headers
from deniable.errors import InvalidParameter

HEADER = b"x-forwarded-for"
MOST = 20  # addresses in a row that are looked at


class Proxies:
    """The proxies of a server, by address or network. Without any, whoever is connected is who they are.

    >>> Proxies(["10.0.0.0/8"]).client(("10.0.0.7", 4711), [(b"x-forwarded-for", b"198.51.100.9, 203.0.113.5, 10.0.0.3")])
    ('203.0.113.5', 0)
    """

    def __init__(self, addresses: Iterable[str] = ()) -> None:
        try:
            self._networks = tuple(ipaddress.ip_network(address, strict=False) for address in addresses)
        except ValueError as error:
            raise InvalidParameter(
                "A proxy is given by its address or its network, such as 127.0.0.1 or 10.0.0.0/8."
            ) from error
        self._trusted = lru_cache(maxsize=1024)(self._is_ours)

    def __bool__(self) -> bool:
        return bool(self._networks)

    def client(self, connected: Client, headers: Headers) -> Client:
        """Who sent a request: the last address in the list that is not one of our proxies; those before it are hearsay."""
        if not self._networks or connected is None or not self._trusted(connected[0]):
            return connected
        named = b",".join(value for name, value in headers if name == HEADER)  # a proxy may add a line of its own
        for address in reversed([each.strip() for each in named.decode("latin-1").split(",")[-MOST:]]):
            if not self._is_address(address):
                break
            if not self._trusted(address):
                return address, 0
        return connected

    def _is_ours(self, address: str) -> bool:
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        parsed = getattr(parsed, "ipv4_mapped", None) or parsed
        return any(parsed in network for network in self._networks)

    @staticmethod
    def _is_address(text: str) -> bool:
        try:
            ipaddress.ip_address(text)
        except ValueError:
            return False
        return True
