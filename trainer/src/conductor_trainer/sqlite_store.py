"""A SQLite database that `SqliteStore` of the TypeScript side writes to at the same time."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from conductor_trainer.store_key import StoredObject, check_key

# That of the tables, see `sqlite-database.ts`.
_VERSION = 2

_BUSY_SECONDS = 30.0
"""Another process writes for some milliseconds; one that is away for longer is stopped."""

_INSERT = "INSERT INTO entries (key, modified, bytes) VALUES (?, ?, ?) ON CONFLICT (key) DO "
_REPLACE = "UPDATE SET modified = excluded.modified, bytes = excluded.bytes"

_ADVICE = {
    "read": "it must be the database of the workers, which this user may read, in a folder that "
    "they may write",
    "written": "it must be the database of the workers, which this user may write, on a disk with "
    "room, and no other process may keep it locked",
}


class SqliteStore:
    """A connection for each call: there are a few in a cycle. The workers make the database."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.url = f"sqlite:{path}"

    def read(self, key: str) -> StoredObject | None:
        """None where nothing lies there, nor where there is no database yet."""
        found = self._look("bytes, modified", key)
        return None if found is None else StoredObject(found[0], _time_of(found[1]))

    def modified_at(self, key: str) -> datetime | None:
        """The same, without reading it."""
        found = self._look("modified", key)
        return None if found is None else _time_of(found[0])

    def write(self, key: str, content: bytes) -> None:
        """Replaces what lies there."""
        self._change(key, content, _REPLACE)

    def create(self, key: str, content: bytes) -> bool:
        """True where nothing had been there."""
        return self._change(key, content, "NOTHING")

    def _look(self, columns: str, key: str) -> tuple | None:
        check_key(key)
        if not self._path.exists():
            return None
        with self._open("read") as database:
            query = f"SELECT {columns} FROM entries WHERE key = ?"
            return database.execute(query, (key,)).fetchone()

    def _change(self, key: str, content: bytes, on_conflict: str) -> bool:
        check_key(key)
        if not self._path.exists():
            raise RuntimeError(
                f"{self.url} is not there: it must be the database of the workers, which make it"
            )
        with self._open("written") as database:
            # Whoever is told that something is kept relies on it, whatever becomes of the power.
            database.execute("PRAGMA synchronous = FULL")
            database.execute("PRAGMA fullfsync = ON")
            row = (key, time.time_ns() // 1_000_000, content)
            return database.execute(_INSERT + on_conflict, row).rowcount == 1

    @contextmanager
    def _open(self, what: Literal["read", "written"]) -> Iterator[sqlite3.Connection]:
        mode = "ro" if what == "read" else "rw"
        try:
            with closing(
                sqlite3.connect(
                    f"{self._path.as_uri()}?mode={mode}",
                    uri=True,
                    timeout=_BUSY_SECONDS,
                    isolation_level=None,
                )
            ) as database:
                self._check_version(database)
                yield database
        except sqlite3.Error as error:
            raise RuntimeError(f"{self.url} cannot be {what} ({error}): {_ADVICE[what]}") from error

    def _check_version(self, database: sqlite3.Connection) -> None:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version > _VERSION:
            raise RuntimeError(
                f"{self.url} was made by a newer version (its tables are of version "
                f"{version}, and this trainer knows {_VERSION}): update the trainer"
            )


def _time_of(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
