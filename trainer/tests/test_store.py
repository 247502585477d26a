"""Reading a database that a worker writes. Encryption is in `test_encryption.py`."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from conductor_trainer.errors import BadRequest
from conductor_trainer.store import StoredObject, open_store

AT = datetime(2026, 11, 22, 10, 0, 0, 500_000, UTC)


def write(path: Path, key: str, content: bytes) -> sqlite3.Connection:
    """As a worker does, which stays connected."""
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA user_version = 1")
    database.execute("CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, modified, bytes)")
    row = (key, AT.timestamp() * 1000, content)
    database.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", row)
    database.commit()
    return database


def test_what_a_worker_wrote_is_read_while_it_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a store 100%.db"
    store = open_store(f"sqlite:{path}", None)
    assert store.read("training/batch") is None
    assert not path.exists()
    worker = write(path, "training/batch", b"rollouts")
    assert store.read("training/batch") == StoredObject(b"rollouts", AT)
    assert store.read("training/other") is None
    worker.execute("BEGIN IMMEDIATE")
    worker.execute("UPDATE entries SET bytes = 'half'")
    assert store.read("training/batch") == StoredObject(b"rollouts", AT)
    with pytest.raises(BadRequest, match="is refused"):
        store.read("../batch")
    worker.close()


def test_a_database_that_cannot_be_read_says_so_in_a_sentence(tmp_path: Path) -> None:
    newer = write(tmp_path / "newer.db", "batch", b"")
    newer.execute("PRAGMA user_version = 7")
    newer.close()
    (tmp_path / "none.db").write_bytes(b"something else altogether" * 100)
    for name, said in (
        ("newer", "tables are of version 7, and this trainer knows 2"),
        ("none", "cannot be read"),
    ):
        with pytest.raises(RuntimeError, match=said):
            open_store(f"sqlite:{tmp_path}/{name}.db", None).read("batch")
