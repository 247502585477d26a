"""Checkpoints stored among the artifacts, and a local cache, from which programs load them.

1. Each file is stored under its SHA-256. Files that checkpoints share, above all a base model's,
   are stored once, and two attempts at one checkpoint never corrupt each other's files.
2. The record that names the files is written last, and only if there is none; the checkpoint exists
   from then on and never changes. Of concurrent attempts, the first to write the record counts.
   Only the optimizer's moments are dropped, once there is a newer checkpoint.
3. `store gc` and the end of a night remove files that no record names and that are older than two
   hours. A writer therefore writes a file again if it is older than one hour, and repeats its pass
   over all files until one takes less than half an hour; then it writes the record.
4. Any number of processes may share the cache's folder. Each locks the checkpoints that it uses
   (the kernel releases the locks of a dead process), and no locked one is removed. Those in place
   are complete.
"""

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from conductor_trainer.artifacts import Artifacts, is_key
from conductor_trainer.checkpoint import (
    MOMENTS_FOLDER,
    RESULT_FILE,
    TRAINER_FOLDER,
    Record,
    checkpoint_folder,
    id_of,
    make_checkpoint,
    read_record,
    record_from,
    require_record,
)
from conductor_trainer.contract import CheckpointName, JsonObject
from conductor_trainer.errors import BadRequest, CheckpointMissing, CheckpointUnreadable
from conductor_trainer.weights import require_safetensors
from conductor_trainer.whole_folder import remove_folder, sweep

_REFERENCE = re.compile(r"([a-z0-9][a-z0-9-]{0,62})/([a-z0-9][a-z0-9-]{0,62})/(model|adapter)")

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

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()


class CheckpointCache:
    """Folder of checkpoints, `<training run>/<name>`, that caches the artifacts. Calls block."""

    def __init__(self, root: Path, artifacts: Artifacts, *, most: int) -> None:
        """Keeps the `most` last used checkpoints, and all others that are in use."""
        self.root = root
        self.artifacts = artifacts
        self.most = most

    def find(self, checkpoint: CheckpointName) -> StoredCheckpoint | None:
        """Returns None if it was never stored, or was removed. Raises `CheckpointUnreadable`."""
        key = _record_key(checkpoint)
        found = self.artifacts.read(key)
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
                f"{key} in {self.artifacts.url} cannot be read ({type(cause).__name__}: {cause}): "
                "it was altered, or written by another version. Restore a copy, or continue from "
                "another one."
            ) from cause

    def require(self, checkpoint: CheckpointName) -> StoredCheckpoint:
        """Finds a checkpoint. Raises `CheckpointMissing` if there is none."""
        found = self.find(checkpoint)
        if found is None:
            raise CheckpointMissing(
                f"There is no checkpoint {id_of(checkpoint)} in {self.artifacts.url}: it was "
                "never made, was removed, or is stored elsewhere. Give the right --artifacts, or "
                "continue from another checkpoint."
            )
        return found

    @contextmanager
    def held(self, checkpoint: CheckpointName, *, to_go_on: bool = False) -> Iterator[Path]:
        """Yields the folder; it and its base stay. `to_go_on` also fetches the optimizer state."""
        with ExitStack() as stack:
            record = stack.enter_context(self._held(checkpoint, to_go_on))
            if record.kind == "adapter":
                base, _ = read_reference(record.base)
                stack.enter_context(self._held(base, to_go_on=False))
            yield checkpoint_folder(self.root, checkpoint)
        self._trim()

    @contextmanager
    def located(self, place: Path) -> Iterator[Path]:
        """Yields the folder that a policy server must load; an absolute path is used unchanged."""
        if place.is_absolute():
            yield place
            return
        checkpoint, part = read_reference(place.as_posix())
        with self.held(checkpoint) as folder:
            yield folder / part

    @contextmanager
    def making(self, checkpoint: CheckpointName, identity: str) -> Iterator[bool]:
        """Locks a checkpoint to make; yields whether a killed process made it from this request."""
        with self._lock(checkpoint) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            local = read_record(self.root, checkpoint)
            yield local is not None and local.identity == identity
        self._trim()

    def keep(self, checkpoint: CheckpointName) -> Record:
        """Stores a new checkpoint in the artifacts; returns its record, or an earlier attempt's."""
        made = require_record(self.root, checkpoint)
        while True:
            files = self._keep_files(checkpoint_folder(self.root, checkpoint))
            stored = StoredCheckpoint(made, files)
            if self.artifacts.create(_record_key(checkpoint), stored.to_json()):
                return made
            if found := self.find(checkpoint):
                return found.record

    def forget_moments(self, checkpoint: CheckpointName) -> None:
        """Drops the moments of a superseded checkpoint, locally and in the artifacts.

        They are twice the size of the weights; only a run's newest checkpoint needs them.
        """
        moments = f"{TRAINER_FOLDER}/{MOMENTS_FOLDER}"
        found = self.find(checkpoint)
        if found is not None:
            files = [file for file in found.files if not file.path.startswith(f"{moments}/")]
            if len(files) < len(found.files):
                left = StoredCheckpoint(found.record, files)
                self.artifacts.write(_record_key(checkpoint), left.to_json())
        remove_folder(checkpoint_folder(self.root, checkpoint) / moments)

    def collect(self, request: JsonObject) -> JsonObject:
        """Removes the local checkpoints of a run's cycles, except kept ones and those in use.

        `base` and the warm start always stay: adapters are useless without the model they adapt.
        """
        run, keep = self.root / request["trainRun"], request["keep"]
        made = sorted(path.parent for path in run.glob(f"[!.]*/{RESULT_FILE}"))
        old = [each for each in made if each.name.isdecimal() and each.name not in keep]
        left, sizes = sweep(run), {each.name: self._remove(each) for each in old}
        removed = {name: size for name, size in sizes.items() if size is not None}
        return {"removed": [*removed], "bytes": left + sum(removed.values())}

    def replaceable_bytes(self) -> int:
        """Counts the bytes of the local checkpoints of cycles, which make room for newer ones."""
        made = self.root.glob(f"[!.]*/[!.]*/{RESULT_FILE}")
        found = 0
        for folder in (path.parent for path in made if path.parent.name.isdecimal()):
            # Another process may remove it just now.
            with suppress(FileNotFoundError):
                found += sum(file.stat().st_size for file in _files_of(folder))
        return found

    @contextmanager
    def _held(self, checkpoint: CheckpointName, to_go_on: bool) -> Iterator[Record]:
        stored, folder = self.require(checkpoint), checkpoint_folder(self.root, checkpoint)
        state = f"{TRAINER_FOLDER}/"
        files = [each for each in stored.files if to_go_on or not each.path.startswith(state)]

        def is_there() -> bool:
            is_same = read_record(self.root, checkpoint) == stored.record
            return is_same and all((folder / file.path).is_file() for file in files)

        def fetch(temporary: Path) -> Record:
            self._fetch_files(files, temporary)
            return stored.record

        with self._lock(checkpoint) as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            while not is_there():
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not is_there():
                    make_checkpoint(self.root, checkpoint, fetch)
                # Not atomic: another process may remove the checkpoint before this one locks it.
                fcntl.flock(lock, fcntl.LOCK_SH)
            os.utime(folder / RESULT_FILE)
            yield stored.record

    def _trim(self) -> None:
        """Removes the least recently used checkpoints over the limit, unless they are in use."""
        records = [*self.root.glob(f"[!.]*/[!.]*/{RESULT_FILE}")]
        by_use = sorted(records, key=_modified, reverse=True)
        for record in by_use[self.most :]:
            self._remove(record.parent)

    def _remove(self, folder: Path) -> int | None:
        """Removes a checkpoint and returns the bytes that it held, or None if it is in use."""
        checkpoint = CheckpointName(trainRun=folder.parent.name, name=folder.name)
        with self._lock(checkpoint) as lock, suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return remove_folder(folder)
        return None

    @contextmanager
    def _lock(self, checkpoint: CheckpointName) -> Iterator[IO[str]]:
        """Yields a file to lock. It is never removed, since another process may wait for it."""
        folder = checkpoint_folder(self.root, checkpoint)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with folder.with_name(f".{folder.name}.lock").open("a") as lock:
            yield lock

    def _keep_files(self, folder: Path) -> list[StoredFile]:
        def keep(path: Path) -> StoredFile:
            digest = _sha256_of(path)
            key = _key_of(digest)
            modified_at = self.artifacts.modified_at(key)
            if modified_at is None or datetime.now(UTC) - modified_at > _OLD:
                self.artifacts.put(key, path)
            return StoredFile(path.relative_to(folder).as_posix(), path.stat().st_size, digest)

        while True:
            began = datetime.now(UTC)
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                files = [*pool.map(keep, _files_of(folder))]
            if datetime.now(UTC) - began < _IN_TIME:
                return files

    def _fetch_files(self, files: Sequence[StoredFile], folder: Path) -> None:
        """Copies files to a folder. Raises `CheckpointUnreadable` if one is missing or altered."""

        def fetch(file: StoredFile) -> None:
            path, key = folder / file.path, _key_of(file.sha256)
            path.parent.mkdir(parents=True, exist_ok=True)
            is_there = self.artifacts.fetch(key, path)
            if not is_there or _sha256_of(path) != file.sha256:
                what = "was altered" if is_there else "is missing"
                raise CheckpointUnreadable(
                    f"{key} in {self.artifacts.url}, {file.path} of a checkpoint, {what}: restore "
                    "a copy, or continue from another checkpoint."
                )

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            # The first failure is raised here.
            list(pool.map(fetch, files))


def read_reference(reference: str) -> tuple[CheckpointName, str]:
    """Parses `Record.folder` or `Record.base`. Raises `BadRequest`."""
    found = _REFERENCE.fullmatch(reference)
    if found is None:
        raise BadRequest(
            f"{reference!r} is not a checkpoint: expected one such as nightly/000040/adapter."
        )
    return CheckpointName(trainRun=found[1], name=found[2]), found[3]


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _files_of(folder: Path) -> Iterator[Path]:
    """Yields all files of a checkpoint; of a linked base model, only those that are ever loaded."""
    for part in sorted(path for path in folder.iterdir() if path.is_dir()):
        if part.is_symlink():
            beside = {each for each in part.iterdir() if each.suffix in _BASE_FILES}
            yield from sorted(beside | {*require_safetensors(part)})
        else:
            yield from sorted(path for path in part.rglob("*") if path.is_file())


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _record_key(checkpoint: CheckpointName) -> str:
    return f"training/{checkpoint['trainRun']}/weights/{checkpoint['name']}.json"


def _key_of(digest: str) -> str:
    return f"weights/{digest[:2]}/{digest}"
