"""Opens the store that a command line names."""

import re
from pathlib import Path

from conductor_trainer.encryption.keys import KeyRing
from conductor_trainer.store.encrypted_store import EncryptedStore
from conductor_trainer.store.file_store import FileStore
from conductor_trainer.store.s3_store import S3Store
from conductor_trainer.store.store import Store, is_key

_FILE = re.compile(r"file:(.+)", re.DOTALL)
_S3 = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*?))?/?", re.DOTALL)


def open_store(url: str, keys: KeyRing | None) -> Store:
    """Opens `file:PATH` or `s3://BUCKET/PREFIX`; with keys, everything in it is encrypted."""
    store = _open_plain(url)
    return store if keys is None else EncryptedStore(store, keys)


def _open_plain(url: str) -> Store:
    if found := _FILE.fullmatch(url):
        return FileStore(Path(found[1]).resolve())
    if found := _S3.fullmatch(url):
        prefix = found[2] or ""
        if prefix == "":
            return S3Store(found[1], prefix)
        if is_key(prefix):
            return S3Store(found[1], f"{prefix}/")
    raise ValueError(f"store {url!r} is none: expected file:PATH or s3://BUCKET/PREFIX")
