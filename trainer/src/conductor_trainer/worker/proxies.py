"""The proxy on the way to Temporal, by the variables that hold for the TypeScript side."""

from ipaddress import ip_address, ip_network
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies_environment

from temporalio.service import HttpConnectProxyConfig

from conductor_trainer.starting import CannotStart


def proxy_for(address: str, *, encrypted: bool) -> HttpConnectProxyConfig | None:
    """Returns the proxy for a server at ``host:port``; None if it is asked directly."""
    named = getproxies_environment()
    scheme = "https" if encrypted else "http"
    value = named.get(scheme) or named.get("all")
    host = urlsplit(f"//{address}").hostname or ""
    if not value or _is_loopback(host) or _is_exempt(address, host, named.get("no", "")):
        return None
    url = urlsplit(value if "://" in value else f"http://{value}")
    if url.scheme != "http" or url.hostname is None:
        raise CannotStart(
            "Temporal is reached through a proxy of http:// alone: correct "
            f"{scheme.upper()}_PROXY or ALL_PROXY, or list {host} in NO_PROXY"
        )
    target = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    credentials = (unquote(url.username), unquote(url.password or "")) if url.username else None
    return HttpConnectProxyConfig(f"{target}:{url.port or 80}", credentials)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _is_exempt(address: str, host: str, listed: str) -> bool:
    entries = [entry.lower() for entry in listed.replace(",", " ").split()]
    return any(_holds(entry, address.lower(), host) for entry in entries)


def _holds(entry: str, address: str, host: str) -> bool:
    """Whether an entry of ``NO_PROXY`` is the server, or a domain or network that holds it."""
    try:
        return ip_address(host) in ip_network(entry, strict=False)
    except ValueError:
        domain = entry.removeprefix("*").removeprefix(".")
        return entry == "*" or any(f".{each}".endswith(f".{domain}") for each in (host, address))
