"""Checkpoints among the artifacts.

1. Files lie there each under its own SHA-256: what many checkpoints hold, a base model above all,
   is there once, and two attempts at one checkpoint never spoil each other's files.
2. The record that names the files is written last, and only where there is none. Until then there
   is no checkpoint; from then on it never changes, and of several that made it at once one counts.
   Only the optimizer's moments leave it, once there is a newer checkpoint.
3. `store gc` and the end of a night remove files that no record names and that are older than two
   hours. So whoever needs a file writes it anew where it is older than one, and is done with all
   of them within half an hour before the record is written.
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
"""Enough to hide the latency of a bucket."""

_OLD = timedelta(hours=1)
_IN_TIME = timedelta(minutes=30)

_BASE_FILES = {".json", ".txt", ".jinja", ".model"}
"""Of a base model, beside its weights: settings and tokenizer."""


@dataclass(frozen=True)
class StoredFile:
    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class StoredCheckpoint:
    """What lies there under the name of a checkpoint (the other side: `weights.ts`)."""

    record: Record
    files: list[StoredFile]
    schema: int = 1


def find_checkpoint(artifacts: Artifacts, checkpoint: CheckpointName) -> StoredCheckpoint | None:
    """None where it was never kept, or is gone. Raises `CheckpointUnreadable`."""
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
    """What is there for good: another one's where several made the checkpoint at once."""
    files = _keep_files(artifacts, folder)
    stored = StoredCheckpoint(record, files)
    if artifacts.create(_record_key(checkpoint), json.dumps(asdict(stored)).encode()):
        return stored
    return find_checkpoint(artifacts, checkpoint) or keep_checkpoint(
        artifacts, checkpoint, folder, record
    )


def forget_moments(artifacts: Artifacts, checkpoint: CheckpointName) -> None:
    """Only the newest checkpoint of a run needs them, twice as large as the weights."""
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
    """All files of a checkpoint. A base model lies elsewhere; of it, only what is ever loaded."""
    for part in sorted(path for path in folder.iterdir() if path.is_dir()):
        if part.is_symlink():
            beside = {each for each in part.iterdir() if each.suffix in _BASE_FILES}
            yield from sorted(beside | {*require_safetensors(part)})
        else:
            yield from sorted(path for path in part.rglob("*") if path.is_file())


def fetch_files(artifacts: Artifacts, files: Sequence[StoredFile], folder: Path) -> None:
    """Copies files to a folder. Raises `CheckpointUnreadable` where one is gone or altered."""

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
