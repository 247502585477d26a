"""The store that workers write to, of which the trainer only reads: database, bucket or folder."""

import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from conductor_trainer.contract import StoredBytes
from conductor_trainer.encryption import KeyRing, name_of_key, open_content
from conductor_trainer.errors import BadRequest, BatchInvalid, NotInStore
from conductor_trainer.postgres import PostgresPlace, read_postgres_url

_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=-]{0,127}")
_SQLITE = re.compile(r"sqlite:([^?]+)(?:\?sync=(?:full|normal))?", re.DOTALL)
_FILE = re.compile(r"file:(.+)", re.DOTALL)
_S3 = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*?))?/?", re.DOTALL)

STORE_FORMS = "sqlite:PATH, postgres://USER@HOST/DATABASE, s3://BUCKET/PREFIX or file:PATH"

# That of the tables, see `sqlite-database.ts`.
_SQLITE_VERSION = 2


@dataclass(frozen=True)
class StoredObject:
    """What lies under a key, and when it was written."""

    content: bytes
    modified_at: datetime


class Store(Protocol):
    """Where batches and texts lie. Calls block: give them a thread."""

    @property
    def url(self) -> str:
        """For messages, e.g. `sqlite:.conductor/store.db`."""
        ...

    def read(self, key: str) -> StoredObject | None:
        """None where nothing lies under the key."""
        ...


def open_store(url: str, keys: KeyRing | None) -> Store:
    """Opens a store; with keys, everything in it is encrypted.

    Raises `ValueError` for what is none of `STORE_FORMS`.
    """
    store = _open_plain(url)
    return store if keys is None else _EncryptedStore(store, keys)


def _open_plain(url: str) -> Store:
    if found := _SQLITE.fullmatch(url):
        return _SqliteStore(Path(found[1]).resolve())
    if found := _FILE.fullmatch(url):
        return _FileStore(Path(found[1]).resolve())
    if found := _S3.fullmatch(url):
        prefix = found[2] or ""
        if prefix == "":
            return _S3Store(found[1], prefix)
        if _is_key(prefix):
            return _S3Store(found[1], f"{prefix}/")
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


class _SqliteStore:
    """Reads what `SqliteStore` of the TypeScript side writes at the same time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.url = f"sqlite:{path}"

    def read(self, key: str) -> StoredObject | None:
        _check_key(key)
        if not self._path.exists():
            return None
        try:
            with closing(sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True)) as database:
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if version > _SQLITE_VERSION:
                    raise RuntimeError(
                        f"{self.url} was made by a newer version (its tables are of version "
                        f"{version}, and this trainer knows {_SQLITE_VERSION}): update the trainer"
                    )
                query = "SELECT bytes, modified FROM entries WHERE key = ?"
                found = database.execute(query, (key,)).fetchone()
        except sqlite3.Error as error:
            raise RuntimeError(
                f"{self.url} cannot be read ({error}): it must be the database of the workers, "
                "which this user may read, in a folder that they may write"
            ) from error
        if found is None:
            return None
        content, modified = found
        return StoredObject(content, datetime.fromtimestamp(modified / 1000, UTC))


class _PostgresStore:
    """A connection for each read: there are a few in a cycle."""

    def __init__(self, place: PostgresPlace) -> None:
        self._place = place
        self.url = place.url

    def read(self, key: str) -> StoredObject | None:
        _check_key(key)
        found = self._place.read(key)
        return None if found is None else StoredObject(*found)


class _FileStore:
    """Reads what `FileStore` of the TypeScript side writes, on this machine or a shared disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.url = f"file:{folder}"

    def read(self, key: str) -> StoredObject | None:
        _check_key(key)
        try:
            with (self._folder / key).open("rb") as file:
                content = file.read()
                modified = os.fstat(file.fileno()).st_mtime
        except FileNotFoundError:
            return None
        return StoredObject(content, datetime.fromtimestamp(modified, UTC))


class _S3Store:
    """One object a key, below a prefix. Configured only by AWS's own environment and profiles."""

    def __init__(self, bucket: str, prefix: str) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._client = _open_client()
        self.url = f"s3://{bucket}/{prefix}".removesuffix("/")

    def read(self, key: str) -> StoredObject | None:
        """An error that leaves has been through boto3's own retries."""
        _check_key(key)
        try:
            found = self._client.get_object(Bucket=self._bucket, Key=f"{self._prefix}{key}")
        except self._client.exceptions.NoSuchKey:
            return None
        return StoredObject(found["Body"].read(), found["LastModified"])


def _open_client() -> Any:
    try:
        import boto3
        from botocore.config import Config
    except ImportError as error:
        raise RuntimeError(
            'a store in S3 needs boto3: install the trainer as "temporal-conductor-trainer[s3]"'
        ) from error
    # Servers of other vendors rarely have a host name for each bucket.
    is_other = "AWS_ENDPOINT_URL_S3" in os.environ or "AWS_ENDPOINT_URL" in os.environ
    config = Config(s3={"addressing_style": "path" if is_other else "auto"})
    return boto3.client("s3", config=config)


class _EncryptedStore:
    """Another store, decrypted. During a change of keys, what was written last counts."""

    def __init__(self, inner: Store, keys: KeyRing) -> None:
        self._inner = inner
        self._keys = keys
        self.url = inner.url

    def read(self, key: str) -> StoredObject | None:
        """What lies there under any of the keys, decrypted."""
        names = {name_of_key(key, each) for each in self._keys.all}
        found = [stored for name in sorted(names) if (stored := self._inner.read(name))]
        if not found:
            return None
        newest = max(found, key=lambda stored: stored.modified_at)
        return StoredObject(open_content(newest.content, key, self._keys), newest.modified_at)


def _is_key(key: str) -> bool:
    """Whether a key means a place below a store's root, whatever the kind of store."""
    return all(_PART.fullmatch(part) for part in key.split("/"))


def _check_key(key: str) -> None:
    """Refuses an invalid key before it becomes a path."""
    if not _is_key(key):
        raise BadRequest(
            f"store key {key!r} is refused: each part must begin with a letter or digit and hold "
            "letters, digits and . _ = - only"
        )
