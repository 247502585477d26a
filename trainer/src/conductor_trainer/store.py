"""The store that workers write to: a database or a bucket. The trainer adds checkpoints."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from conductor_trainer.contract import StoredBytes
from conductor_trainer.encryption import KeyRing, name_of_key, open_content, seal_content
from conductor_trainer.errors import BatchInvalid, NotInStore
from conductor_trainer.postgres import PostgresPlace, read_postgres_url
from conductor_trainer.s3_store import S3Store
from conductor_trainer.sqlite_store import SqliteStore
from conductor_trainer.store_key import StoredObject, check_key, is_key

_SQLITE = re.compile(r"sqlite:([^?]+)", re.DOTALL)
_S3 = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*?))?/?", re.DOTALL)

STORE_FORMS = "sqlite:PATH, postgres://USER@HOST/DATABASE or s3://BUCKET/PREFIX"


class Store(Protocol):
    """Where batches, texts and checkpoints lie. Calls block: give them a thread."""

    @property
    def url(self) -> str:
        """For messages, e.g. `sqlite:.conductor/store.db`."""
        ...

    def read(self, key: str) -> StoredObject | None:
        """None where nothing lies under the key."""
        ...

    def modified_at(self, key: str) -> datetime | None:
        """When what lies under the key was written, by the clock of where it lies."""
        ...

    def write(self, key: str, content: bytes) -> None:
        """Replaces what lies there, whole or not at all."""
        ...

    def create(self, key: str, content: bytes) -> bool:
        """The same where nothing lies there: of many that do so at once, one is told True."""
        ...


def open_store(url: str, keys: KeyRing | None) -> Store:
    """Opens a store; with keys, everything in it is encrypted.

    Raises `ValueError` for what is none of `STORE_FORMS`.
    """
    store = _open_plain(url)
    return store if keys is None else _EncryptedStore(store, keys)


def _open_plain(url: str) -> Store:
    if found := _SQLITE.fullmatch(url):
        return SqliteStore(Path(found[1]).resolve())
    if found := _S3.fullmatch(url):
        prefix = found[2] or ""
        if prefix == "":
            return S3Store(found[1], prefix)
        if is_key(prefix):
            return S3Store(found[1], f"{prefix}/")
    if place := read_postgres_url(url):
        return _PostgresStore(place)
    raise ValueError(f"store {url!r} is none: expected {STORE_FORMS}")


@contextmanager
def stored_file(store: Store, stored: StoredBytes) -> Iterator[Path]:
    """Copies bytes of the store to a file, checked against their SHA-256; it is removed at the end.

    Raises `NotInStore` or `BatchInvalid`.
    """
    found = store.read(stored["key"])
    if found is None:
        raise NotInStore(
            f"There is no {stored['key']} in the store {store.url}. Give the trainer the same "
            "store as the workers."
        )
    digest = hashlib.sha256(found.content).hexdigest()
    if digest != stored["sha256"]:
        raise BatchInvalid(
            f"{stored['key']} in the store {store.url} hashes to {digest}, not to the "
            f"{stored['sha256']} of the request: it was written anew or altered since."
        )
    with TemporaryDirectory(prefix="conductor-trainer-") as folder:
        path = Path(folder) / "stored"
        path.write_bytes(found.content)
        yield path


class _PostgresStore:
    """Calls are those of `PostgresPlace`, for keys that are some."""

    def __init__(self, place: PostgresPlace) -> None:
        self._place = place
        self.url = place.url

    def read(self, key: str) -> StoredObject | None:
        check_key(key)
        found = self._place.read(key)
        return None if found is None else StoredObject(*found)

    def modified_at(self, key: str) -> datetime | None:
        check_key(key)
        return self._place.modified_at(key)

    def write(self, key: str, content: bytes) -> None:
        check_key(key)
        self._place.write(key, content)

    def create(self, key: str, content: bytes) -> bool:
        check_key(key)
        return self._place.create(key, content)


class _EncryptedStore:
    """Another store, decrypted. During a change of keys, what was written last counts."""

    def __init__(self, inner: Store, keys: KeyRing) -> None:
        self._inner = inner
        self._keys = keys
        self.url = inner.url

    def read(self, key: str) -> StoredObject | None:
        """What lies there under any of the keys, decrypted."""
        found = [stored for name in self._names_of(key) if (stored := self._inner.read(name))]
        if not found:
            return None
        newest = max(found, key=lambda stored: stored.modified_at)
        return StoredObject(open_content(newest.content, key, self._keys), newest.modified_at)

    def modified_at(self, key: str) -> datetime | None:
        found = [at for name in self._names_of(key) if (at := self._inner.modified_at(name))]
        return max(found, default=None)

    def write(self, key: str, content: bytes) -> None:
        first = self._keys.first
        self._inner.write(name_of_key(key, first), seal_content(content, key, first))

    def create(self, key: str, content: bytes) -> bool:
        if self.modified_at(key) is not None:
            return False
        first = self._keys.first
        return self._inner.create(name_of_key(key, first), seal_content(content, key, first))

    def _names_of(self, key: str) -> list[str]:
        return sorted({name_of_key(key, each) for each in self._keys.all})
