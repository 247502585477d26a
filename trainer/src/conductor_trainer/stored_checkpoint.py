"""Checkpoints stored among the artifacts.

1. Each file is stored under its SHA-256. Files that checkpoints share, above all a base model's,
   are stored once, and two attempts at one checkpoint never corrupt each other's files.
2. The record that names the files is written last, and only if there is none; the checkpoint exists
   from then on and never changes. Of concurrent attempts, the first to write the record counts.
   Only the optimizer's moments are dropped, once there is a newer checkpoint.
3. `store gc` and the end of a night remove files that no record names and that are older than two
   hours. A writer therefore writes a file again if it is older than one hour, and repeats its pass
   over all files until one takes less than half an hour; then it writes the record.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from conductor_trainer.artifacts import Artifacts, is_key
from conductor_trainer.checkpoint import MOMENTS_FILE, TRAINER_FOLDER, Record, record_from
from conductor_trainer.contract import CheckpointName
from conductor_trainer.errors import CheckpointUnreadable
from conductor_trainer.weights import require_safetensors

_AT_ONCE = 4
"""Parallel transfers, enough to hide the latency of a bucket."""

_OLD = timedelta(hours=1)
_IN_TIME = timedelta(minutes=30)

_BASE_FILES = {".json", ".txt", ".jinja", ".model"}
"""Suffixes of a base model's settings and tokenizer files."""


@dataclass(frozen=True)
class StoredFile:
    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class StoredCheckpoint:
    """JSON stored under a checkpoint's name (TypeScript side: `forget-checkpoints.ts`)."""

    record: Record
    files: list[StoredFile]
    schema: int = 1


def find_checkpoint(artifacts: Artifacts, checkpoint: CheckpointName) -> StoredCheckpoint | None:
    """Returns None if it was never stored, or was removed. Raises `CheckpointUnreadable`."""
    key = _record_key(checkpoint)
    found = artifacts.read(key)
    if found is None:
        return None
    try:
        fields = json.loads(found)
        files = [StoredFile(**each) for each in fields["files"]]
        if not all(is_key(file.path) for file in files):
            raise ValueError("one of its files has an invalid name")
        return StoredCheckpoint(record_from(fields["record"]), files, fields["schema"])
    except (ValueError, TypeError, KeyError) as cause:
        raise CheckpointUnreadable(
            f"{key} in {artifacts.url} cannot be read ({type(cause).__name__}: {cause}): it "
            "was altered, or written by another version. Restore a copy, or continue from another "
            "one."
        ) from cause


def keep_checkpoint(
    artifacts: Artifacts, checkpoint: CheckpointName, folder: Path, record: Record
) -> StoredCheckpoint:
    """Stores a checkpoint, and returns the one that counts: another attempt's if that was first."""
    files = _keep_files(artifacts, folder)
    stored = StoredCheckpoint(record, files)
    if artifacts.create(_record_key(checkpoint), json.dumps(asdict(stored)).encode()):
        return stored
    return find_checkpoint(artifacts, checkpoint) or keep_checkpoint(
        artifacts, checkpoint, folder, record
    )


def forget_moments(artifacts: Artifacts, checkpoint: CheckpointName) -> None:
    """Drops the moments (twice the weights' size); only a run's newest checkpoint needs them."""
    found = find_checkpoint(artifacts, checkpoint)
    if found is None:
        return
    files = [file for file in found.files if file.path != f"{TRAINER_FOLDER}/{MOMENTS_FILE}"]
    if len(files) < len(found.files):
        left = StoredCheckpoint(found.record, files)
        artifacts.write(_record_key(checkpoint), json.dumps(asdict(left)).encode())


def _keep_files(artifacts: Artifacts, folder: Path) -> list[StoredFile]:
    def keep(path: Path) -> StoredFile:
        digest = _sha256_of(path)
        key = _key_of(digest)
        modified_at = artifacts.modified_at(key)
        if modified_at is None or datetime.now(UTC) - modified_at > _OLD:
            artifacts.put(key, path)
        return StoredFile(path.relative_to(folder).as_posix(), path.stat().st_size, digest)

    while True:
        began = datetime.now(UTC)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            files = [*pool.map(keep, _files_of(folder))]
        if datetime.now(UTC) - began < _IN_TIME:
            return files


def _files_of(folder: Path) -> Iterator[Path]:
    """Yields all files of a checkpoint; of a linked base model, only those that are ever loaded."""
    for part in sorted(path for path in folder.iterdir() if path.is_dir()):
        if part.is_symlink():
            beside = {each for each in part.iterdir() if each.suffix in _BASE_FILES}
            yield from sorted(beside | {*require_safetensors(part)})
        else:
            yield from sorted(path for path in part.rglob("*") if path.is_file())


def fetch_files(artifacts: Artifacts, files: Sequence[StoredFile], folder: Path) -> None:
    """Copies files to a folder. Raises `CheckpointUnreadable` if one is missing or altered."""

    def fetch(file: StoredFile) -> None:
        path, key = folder / file.path, _key_of(file.sha256)
        path.parent.mkdir(parents=True, exist_ok=True)
        is_there = artifacts.fetch(key, path)
        if not is_there or _sha256_of(path) != file.sha256:
            what = "was altered" if is_there else "is missing"
            raise CheckpointUnreadable(
                f"{key} in {artifacts.url}, {file.path} of a checkpoint, {what}: restore a copy, "
                "or continue from another checkpoint."
            )

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        # The first failure is raised here.
        list(pool.map(fetch, files))


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _record_key(checkpoint: CheckpointName) -> str:
    return f"training/{checkpoint['trainRun']}/weights/{checkpoint['name']}.json"


def _key_of(digest: str) -> str:
    return f"weights/{digest[:2]}/{digest}"
