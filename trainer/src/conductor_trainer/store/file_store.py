"""A store in a folder: one file a key."""

import os
from datetime import UTC, datetime
from pathlib import Path

from conductor_trainer.store.store import StoredObject, check_key


class FileStore:
    """Reads what `FileStore` of the TypeScript side writes, on this machine or a shared disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.url = f"file:{folder}"

    def read(self, key: str) -> StoredObject | None:
        """The file of that key."""
        check_key(key)
        try:
            with (self._folder / key).open("rb") as file:
                content = file.read()
                modified = os.fstat(file.fileno()).st_mtime
        except FileNotFoundError:
            return None
        return StoredObject(content, datetime.fromtimestamp(modified, UTC))
