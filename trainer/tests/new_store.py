"""A store as the workers make it."""

import sqlite3
from contextlib import closing
from pathlib import Path


def new_store(folder: Path) -> str:
    """The URL of the database in a folder, which is made where there is none yet."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "store.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, modified, bytes)"
        )
        database.execute("PRAGMA user_version = 2")
        database.commit()
    return f"sqlite:{path}"


def age_object(folder: Path, key: str, modified: int) -> None:
    """Lets an object have been written at a time, in milliseconds since 1970."""
    with closing(sqlite3.connect(folder / "store.db")) as database:
        database.execute("UPDATE entries SET modified = ? WHERE key = ?", (modified, key))
        database.commit()
