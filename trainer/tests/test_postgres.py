"""How a PostgreSQL store is connected to."""

import socket
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest

from conductor_trainer.postgres import read_postgres_url


@pytest.mark.parametrize(
    ("url", "mode"),
    [
        ("postgres://me@db.example/work", "verify-full"),
        ("postgres://me@db.example/work?sslmode=disable", "disable"),
        ("postgres://me@db.example/work?host=/run/postgresql", "disable"),
        ("postgres://me@localhost/work", "disable"),
        ("postgres://127.0.0.1:6432/work", "disable"),
        ("postgres://[::1]/work", "disable"),
        ("postgres://localhost/work?sslrootcert=ca.crt", "verify-full"),
    ],
)
def test_another_machine_is_spoken_to_with_tls_unless_the_url_says_otherwise(
    url: str, mode: str
) -> None:
    place = read_postgres_url(url)
    assert place is not None
    assert parse_qs(urlsplit(place.connection).query)["sslmode"] == [mode]


@pytest.mark.parametrize("url", ["postgres:///work", "postgres://localhost,db.example/work"])
def test_one_host_is_named(url: str) -> None:
    assert read_postgres_url(url) is None


def test_no_password_is_sent_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        asking = Thread(target=_ask_for_the_password, args=(server, heard))
        asking.start()
        place = read_postgres_url(f"postgres://me@127.0.0.1:{server.getsockname()[1]}/work")
        assert place is not None
        with pytest.raises(RuntimeError, match="cannot be read"):
            place.read("texts/ab")
        asking.join()
    assert b"hunter2" not in b"".join(heard)


def _ask_for_the_password(server: socket.socket, heard: list[bytes]) -> None:
    connection, _ = server.accept()
    with connection:
        # What begins with a length of 8 asks for TLS or Kerberos, which is declined.
        while connection.recv(4096).startswith(b"\0\0\0\x08"):
            connection.sendall(b"N")
        # AuthenticationCleartextPassword.
        connection.sendall(b"R\0\0\0\x08\0\0\0\x03")
        heard.append(connection.recv(4096))
