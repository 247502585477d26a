"""Checkpoints in the store.

1. Files lie there in pieces of a few megabytes, each under its own SHA-256: what many checkpoints
   hold, a base model above all, is there once, and no row of a database grows large.
2. The record that names the pieces is written last, and only where there is none. Until then there
   is no checkpoint; from then on it never changes, and of several that made it at once one counts.
   Only the optimizer's moments leave it, once there is a newer checkpoint.
3. `store gc` and the end of a night remove pieces that no record names and that are older than two
   hours. So whoever needs a piece writes it anew where it is older than one, and is done with all
   of them within half an hour before the record is written.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from conductor_trainer.checkpoint import MOMENTS_FILE, TRAINER_FOLDER, Record, record_from
from conductor_trainer.contract import CheckpointName
from conductor_trainer.errors import CheckpointUnreadable
from conductor_trainer.store import Store
from conductor_trainer.store_key import is_key
from conductor_trainer.weights import require_safetensors

_CHUNK_BYTES = 4 << 20

_AT_ONCE = 4
"""Enough to hide the latency of a bucket; a database takes one after the other."""

_OLD = timedelta(hours=1)
_IN_TIME = timedelta(minutes=30)

_BASE_FILES = {".json", ".txt", ".jinja", ".model"}
"""Of a base model, beside its weights: settings and tokenizer."""


@dataclass(frozen=True)
class StoredFile:
    """A file of a checkpoint, and the pieces that it is made of."""

    path: str
    """Below the checkpoint's folder."""
    bytes: int
    chunks: list[str]
    """The SHA-256 of each, in order."""


@dataclass(frozen=True)
class StoredCheckpoint:
    """What the store has under the name of a checkpoint (the other side: `weights.ts`)."""

    record: Record
    files: list[StoredFile]
    schema: int = 1


def find_checkpoint(store: Store, checkpoint: CheckpointName) -> StoredCheckpoint | None:
    """None where it was never kept, or is gone. Raises `CheckpointUnreadable`."""
    key = _record_key(checkpoint)
    found = store.read(key)
    if found is None:
        return None
    try:
        fields = json.loads(found.content)
        files = [StoredFile(**each) for each in fields["files"]]
        if not all(is_key(file.path) for file in files):
            raise ValueError("a file of it has no proper name")
        return StoredCheckpoint(record_from(fields["record"]), files, fields["schema"])
    except (ValueError, TypeError, KeyError) as cause:
        raise CheckpointUnreadable(
            f"{key} in the store {store.url} cannot be read ({type(cause).__name__}: {cause}): it "
            "was altered, or is of another version. Put back a copy, or go on from another one."
        ) from cause


def keep_checkpoint(
    store: Store, checkpoint: CheckpointName, folder: Path, record: Record
) -> StoredCheckpoint:
    """Copies a folder into the store, and returns what is there under that name for good.

    That is another's where several made the checkpoint at once.
    """
    files = _keep_files(store, folder)
    stored = StoredCheckpoint(record, files)
    if store.create(_record_key(checkpoint), json.dumps(asdict(stored)).encode()):
        return stored
    return find_checkpoint(store, checkpoint) or keep_checkpoint(store, checkpoint, folder, record)


def forget_moments(store: Store, checkpoint: CheckpointName) -> None:
    """Takes the moments of the gradients, twice as large as the weights, off a checkpoint.

    Only the newest of a training run needs them. What is compared and served stays as it is.
    """
    found = find_checkpoint(store, checkpoint)
    if found is None:
        return
    files = [file for file in found.files if file.path != f"{TRAINER_FOLDER}/{MOMENTS_FILE}"]
    if len(files) < len(found.files):
        left = StoredCheckpoint(found.record, files)
        store.write(_record_key(checkpoint), json.dumps(asdict(left)).encode())


def _keep_files(store: Store, folder: Path) -> list[StoredFile]:
    """See 3. above."""
    while True:
        began = datetime.now(UTC)
        files = [_keep_file(store, path, folder) for path in _files_of(folder)]
        if datetime.now(UTC) - began < _IN_TIME:
            return files


def _files_of(folder: Path) -> Iterator[Path]:
    """All files of a checkpoint. A base model lies elsewhere; of it, only what is ever loaded."""
    for part in sorted(path for path in folder.iterdir() if path.is_dir()):
        if part.is_symlink():
            beside = {each for each in part.iterdir() if each.suffix in _BASE_FILES}
            yield from sorted(beside | {*require_safetensors(part)})
        else:
            yield from sorted(path for path in part.rglob("*") if path.is_file())


def _keep_file(store: Store, path: Path, folder: Path) -> StoredFile:
    def keep(chunk: bytes) -> str:
        digest = hashlib.sha256(chunk).hexdigest()
        key = _chunk_key(digest)
        modified_at = store.modified_at(key)
        if modified_at is None or datetime.now(UTC) - modified_at > _OLD:
            store.write(key, chunk)
        return digest

    with path.open("rb") as file, ThreadPoolExecutor(_AT_ONCE) as pool:
        chunks: list[str] = []
        while batch := [chunk for _ in range(_AT_ONCE) if (chunk := file.read(_CHUNK_BYTES))]:
            chunks += pool.map(keep, batch)
        return StoredFile(path.relative_to(folder).as_posix(), file.tell(), chunks)


def fetch_files(
    store: Store, stored: StoredCheckpoint, folder: Path, is_wanted: Callable[[str], bool]
) -> None:
    """Copies files to a folder. Raises `CheckpointUnreadable` where a piece is gone or altered."""

    def fetch(digest: str) -> bytes:
        found = store.read(_chunk_key(digest))
        if found is None or hashlib.sha256(found.content).hexdigest() != digest:
            what = "is not there" if found is None else "was altered"
            raise CheckpointUnreadable(
                f"{_chunk_key(digest)} in the store {store.url}, a piece of a checkpoint, {what}: "
                "put back a copy of the store, or go on from another checkpoint."
            )
        return found.content

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for each in filter(lambda file: is_wanted(file.path), stored.files):
            path = folder / each.path
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                for at in range(0, len(each.chunks), _AT_ONCE):
                    for chunk in pool.map(fetch, each.chunks[at : at + _AT_ONCE]):
                        file.write(chunk)


def _record_key(checkpoint: CheckpointName) -> str:
    return f"training/{checkpoint['trainRun']}/weights/{checkpoint['name']}.json"


def _chunk_key(digest: str) -> str:
    return f"weights/{digest[:2]}/{digest}"
