"""Local cache of the checkpoints in the artifacts; programs load them from its folder.

Any number of processes may share the folder. Each locks the checkpoints that it uses (the kernel
releases the locks of a dead process), and no locked one is removed. Those in place are complete.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from conductor_trainer.artifacts import Artifacts
from conductor_trainer.checkpoint import (
    MOMENTS_FILE,
    RESULT_FILE,
    TRAINER_FOLDER,
    Record,
    checkpoint_folder,
    id_of,
    make_checkpoint,
    read_record,
    require_record,
)
from conductor_trainer.contract import CheckpointName
from conductor_trainer.errors import BadRequest, CheckpointMissing
from conductor_trainer.stored_checkpoint import (
    StoredCheckpoint,
    fetch_files,
    find_checkpoint,
    forget_moments,
    keep_checkpoint,
)
from conductor_trainer.whole_folder import remove_folder

_REFERENCE = re.compile(r"([a-z0-9][a-z0-9-]{0,62})/([a-z0-9][a-z0-9-]{0,62})/(model|adapter)")


class CheckpointCache:
    """Folder of checkpoints, `<training run>/<name>`, that caches the artifacts. Calls block."""

    def __init__(self, root: Path, artifacts: Artifacts, *, most: int) -> None:
        """Keeps the `most` last used checkpoints, and all others that are in use."""
        self.root = root
        self.artifacts = artifacts
        self._most = most

    def find(self, checkpoint: CheckpointName) -> StoredCheckpoint | None:
        return find_checkpoint(self.artifacts, checkpoint)

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
        folder, made = (
            checkpoint_folder(self.root, checkpoint),
            require_record(self.root, checkpoint),
        )
        return keep_checkpoint(self.artifacts, checkpoint, folder, made).record

    def forget_moments(self, checkpoint: CheckpointName) -> None:
        """Drops the moments of a superseded checkpoint, locally and in the artifacts."""
        forget_moments(self.artifacts, checkpoint)
        folder = checkpoint_folder(self.root, checkpoint) / TRAINER_FOLDER
        (folder / MOMENTS_FILE).unlink(missing_ok=True)

    @contextmanager
    def _held(self, checkpoint: CheckpointName, to_go_on: bool) -> Iterator[Record]:
        stored, folder = self.require(checkpoint), checkpoint_folder(self.root, checkpoint)
        state = f"{TRAINER_FOLDER}/"
        files = [each for each in stored.files if to_go_on or not each.path.startswith(state)]

        def is_there() -> bool:
            is_same = read_record(self.root, checkpoint) == stored.record
            return is_same and all((folder / file.path).is_file() for file in files)

        def fetch(temporary: Path) -> Record:
            fetch_files(self.artifacts, files, temporary)
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
        for record in by_use[self._most :]:
            folder = record.parent
            checkpoint = CheckpointName(trainRun=folder.parent.name, name=folder.name)
            with self._lock(checkpoint) as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                remove_folder(folder)

    @contextmanager
    def _lock(self, checkpoint: CheckpointName) -> Iterator[IO[str]]:
        """Yields a file to lock. It is never removed, since another process may wait for it."""
        folder = checkpoint_folder(self.root, checkpoint)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with folder.with_name(f".{folder.name}.lock").open("a") as lock:
            yield lock


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
