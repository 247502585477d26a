"""Reads and writes artifacts in a folder or a bucket; TypeScript: `src/training/artifacts.ts`."""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from uuid import uuid4

import fsspec

from conductor_trainer.contract import StoredBytes
from conductor_trainer.encryption import KeyRing, name_of_key, open_content
from conductor_trainer.errors import BadRequest, BatchInvalid, DiskFull, NotInArtifacts
from conductor_trainer.whole_folder import is_disk_full, sync

_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=-]{0,127}")
_S3 = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*?))?/?", re.DOTALL)

_UNFINISHED = "unfinished"
"""Folder of unfinished writes; `store gc` removes those that a killed process left."""

ARTIFACT_FORMS = "FOLDER or s3://BUCKET/PREFIX"


class Artifacts:
    """Files stored under keys, each complete or absent even if a process dies. Calls block."""

    folder: Path | None = None
    """Folder on this machine, if they are in one."""

    def __init__(self, url: str, root: str, files: Any) -> None:
        self.url = url
        self._root = root
        self._files = files

    def read(self, key: str) -> bytes | None:
        """Returns None if nothing is stored under the key."""
        with suppress(FileNotFoundError, NotADirectoryError):
            return self._files.cat_file(self._path_of(key))
        return None

    def modified_at(self, key: str) -> datetime | None:
        """Returns when a file was written, by the storage's clock, or None if there is none."""
        with suppress(FileNotFoundError, NotADirectoryError):
            return self._files.modified(self._path_of(key))
        return None

    def fetch(self, key: str, file: Path) -> bool:
        """Copies to a file; returns False if nothing is stored under the key."""
        with suppress(FileNotFoundError, NotADirectoryError):
            self._files.get_file(self._path_of(key), str(file))
            return True
        return False

    def write(self, key: str, content: bytes) -> None:
        self._files.pipe_file(self._path_of(key), content)

    def create(self, key: str, content: bytes) -> bool:
        """Writes unless the key exists; returns True to only one of several concurrent callers.

        S3 servers of other vendors may ignore the condition of the write. The check before it
        limits that race to simultaneous writes.
        """
        if self.modified_at(key) is not None:
            return False
        try:
            self._files.pipe_file(self._path_of(key), content, mode="create")
        except OSError:
            # Refused because the key exists, or because a concurrent request is creating it.
            if self.modified_at(key) is None:
                raise
            return False
        return True

    def put(self, key: str, file: Path) -> None:
        self._files.put_file(str(file), self._path_of(key))

    def _path_of(self, key: str) -> str:
        if not is_key(key):
            raise BadRequest(
                f"key {key!r} is refused: each part must start with a letter or digit and contain "
                "only letters, digits and . _ = -"
            )
        return f"{self._root}/{key}"


def open_artifacts(url: str) -> Artifacts:
    """Opens a folder or a bucket. Raises `ValueError` for any other URL."""
    if found := _S3.fullmatch(url):
        prefix = found[2] or ""
        if prefix == "" or is_key(prefix):
            place = f"{found[1]}/{prefix}".removesuffix("/")
            return Artifacts(f"s3://{place}", place, _open_s3())
    if url == "" or re.match(r"\w+:", url):
        raise ValueError(f"{url!r} is not a place for artifacts: expected {ARTIFACT_FORMS}")
    return _Folder(url)


def is_key(key: str) -> bool:
    """Tells whether a key is valid; a valid key cannot leave the root."""
    return all(_PART.fullmatch(part) for part in key.split("/"))


def read_sealed(artifacts: Artifacts, key: str, keys: KeyRing | None) -> bytes | None:
    """Reads what a worker wrote. If several keys encrypted it, the newest copy counts."""
    if keys is None:
        return artifacts.read(key)
    names = {name_of_key(key, each) for each in keys.all}
    found = [(at, name) for name in names if (at := artifacts.modified_at(name))]
    content = artifacts.read(max(found)[1]) if found else None
    return None if content is None else open_content(content, key, keys)


@contextmanager
def stored_file(artifacts: Artifacts, keys: KeyRing | None, stored: StoredBytes) -> Iterator[Path]:
    """Yields a temporary copy of a request's file. Raises `NotInArtifacts` or `BatchInvalid`."""
    found = read_sealed(artifacts, stored["key"], keys)
    if found is None:
        raise NotInArtifacts(
            f"There is no {stored['key']} in {artifacts.url}. Start the trainer with the "
            "--artifacts that the workers have as `training.artifacts`."
        )
    digest = hashlib.sha256(found).hexdigest()
    if digest != stored["sha256"]:
        raise BatchInvalid(
            f"{stored['key']} in {artifacts.url} hashes to {digest}, not to the "
            f"{stored['sha256']} of the request: it was rewritten or altered since."
        )
    with NamedTemporaryFile(prefix="conductor-trainer-") as file:
        file.write(found)
        file.flush()
        yield Path(file.name)


class _Folder(Artifacts):
    """Folder with one file per key, synced to disk before it appears under its final name."""

    def __init__(self, url: str) -> None:
        self.folder = self._folder = Path(url).resolve()
        super().__init__(str(self._folder), str(self._folder), fsspec.filesystem("file"))

    def write(self, key: str, content: bytes) -> None:
        with self._written(key, lambda file: file.write_bytes(content)) as (file, path):
            file.replace(path)

    def create(self, key: str, content: bytes) -> bool:
        with self._written(key, lambda file: file.write_bytes(content)) as (file, path):
            try:
                path.hardlink_to(file)
            except FileExistsError:
                return False
        return True

    def put(self, key: str, file: Path) -> None:
        with self._written(key, lambda copy: shutil.copyfile(file, copy)) as (copy, path):
            copy.replace(path)

    @contextmanager
    def _written(self, key: str, write: Callable[[Path], Any]) -> Iterator[tuple[Path, Path]]:
        """Yields a temporary file, synced to disk, and its final path. Raises `DiskFull`."""
        path, file = Path(self._path_of(key)), self._folder / _UNFINISHED / str(uuid4())
        for folder in (file.parent, path.parent):
            _make_folder(folder)
        try:
            write(file)
            sync(file)
            yield file, path
            sync(path.parent)
        except OSError as error:
            if is_disk_full(error, file.parent):
                raise DiskFull(
                    f"The disk of {self.url} was full while {key} was written ({error}): "
                    "free some space there, or lower `training.keep`."
                ) from error
            raise
        finally:
            file.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync(folder.parent)


def _open_s3() -> Any:
    """Opens S3, configured only by AWS's environment variables and profiles."""
    try:
        # Servers of other vendors rarely have a host name per bucket.
        is_other = "AWS_ENDPOINT_URL_S3" in os.environ or "AWS_ENDPOINT_URL" in os.environ
        style = {"s3": {"addressing_style": "path" if is_other else "auto"}}
        return fsspec.filesystem("s3", use_listings_cache=False, config_kwargs=style)
    except ImportError as error:
        raise RuntimeError(
            'artifacts in S3 need s3fs: install the trainer as "temporal-conductor-trainer[s3]"'
        ) from error
