"""Which proxy leads to Temporal."""

import pytest
from temporalio.service import HttpConnectProxyConfig

from conductor_trainer.starting import CannotStart
from conductor_trainer.worker.proxies import proxy_for

NAMES = [
    name
    for each in ("http", "https", "all", "no")
    for name in (f"{each}_proxy", f"{each.upper()}_PROXY")
]
PROXY = "http://user:p%40ss@proxy.example:3128"
FOUND = HttpConnectProxyConfig("proxy.example:3128", ("user", "p@ss"))


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "encrypted", "found"),
    [
        ("HTTPS_PROXY", True, FOUND),
        ("https_proxy", True, FOUND),
        ("HTTP_PROXY", True, None),
        ("HTTP_PROXY", False, FOUND),
        ("ALL_PROXY", True, FOUND),
        ("all_proxy", False, FOUND),
    ],
)
def test_the_variable_of_the_scheme_counts(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    encrypted: bool,
    found: HttpConnectProxyConfig | None,
) -> None:
    monkeypatch.setenv(name, PROXY)
    assert proxy_for("temporal.example:7233", encrypted=encrypted) == found


@pytest.mark.parametrize(
    "address", ["localhost:7233", "127.0.0.1:7233", "127.9.0.1:1", "[::1]:7233"]
)
def test_this_machine_is_never_asked_through_a_proxy(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", PROXY)
    assert proxy_for(address, encrypted=False) is None


@pytest.mark.parametrize(
    ("listed", "left_out"),
    [
        ("temporal.example", True),
        ("example", True),
        (".temporal.example", True),
        ("*.example", True),
        ("other.example, temporal.example", True),
        ("other.example temporal.example:7233", True),
        ("temporal.example:7234", False),
        ("*", True),
        ("oral.example", False),
    ],
)
def test_no_proxy_leaves_hosts_out(
    monkeypatch: pytest.MonkeyPatch, listed: str, left_out: bool
) -> None:
    monkeypatch.setenv("HTTP_PROXY", PROXY)
    monkeypatch.setenv("NO_PROXY", listed)
    assert (proxy_for("temporal.example:7233", encrypted=False) is None) == left_out


def test_no_proxy_leaves_networks_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", PROXY)
    monkeypatch.setenv("NO_PROXY", "10.0.0.0/8")
    assert proxy_for("10.1.2.3:7233", encrypted=False) is None
    assert proxy_for("11.1.2.3:7233", encrypted=False) == FOUND


def test_a_proxy_that_temporal_cannot_use_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://proxy.example")
    with pytest.raises(CannotStart, match="http:// alone: correct HTTPS_PROXY or ALL_PROXY"):
        proxy_for("temporal.example:7233", encrypted=True)
