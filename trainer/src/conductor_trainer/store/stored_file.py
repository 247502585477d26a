"""Bytes of the store that a step works on, as a file of this machine."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from conductor_trainer.errors import BatchInvalid, NotInStore
from conductor_trainer.requests import StoredBytes
from conductor_trainer.store.store import Store


@contextmanager
def stored_file(store: Store, stored: StoredBytes) -> Iterator[Path]:
    """Brings bytes from the store, checked against their SHA-256; the file is gone at the end."""
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
