"""Checkpoints of the artifacts in a folder of this machine, where programs load them from.

Any number of processes may share the folder. What a process uses is locked, by the kernel, which
lets go when it dies; nothing that is locked is removed. What is in place is whole.
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
)
from conductor_trainer.contract import CheckpointName
from conductor_trainer.errors import BadRequest, CheckpointMissing, CheckpointUnreadable
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
    """A folder of checkpoints, `<training run>/<name>`, before the artifacts. Calls block."""

    def __init__(self, root: Path, artifacts: Artifacts, *, most: int) -> None:
        """`most` is how many stay, the last ones used; those in use come on top."""
        self.root = root
        self._artifacts = artifacts
        self._most = most

    def find(self, checkpoint: CheckpointName) -> StoredCheckpoint | None:
        return find_checkpoint(self._artifacts, checkpoint)

    def require(self, checkpoint: CheckpointName) -> StoredCheckpoint:
        """The same. Raises `CheckpointMissing` where there is nothing."""
        found = self.find(checkpoint)
        if found is None:
            raise CheckpointMissing(
                f"There is no checkpoint {id_of(checkpoint)} in {self._artifacts.url}: it was "
                "never made, was removed, or lies elsewhere. Name the right --artifacts, or go on "
                "from another checkpoint."
            )
        return found

    @contextmanager
    def held(self, checkpoint: CheckpointName, *, to_go_on: bool = False) -> Iterator[Path]:
        """Its folder, and its base; both stay. `to_go_on`: with the state of the optimizer."""
        stored = self.require(checkpoint)
        with ExitStack() as stack:
            stack.enter_context(self._held(checkpoint, stored, to_go_on))
            if stored.record.kind == "adapter":
                stack.enter_context(self.held_base(stored.record))
            yield checkpoint_folder(self.root, checkpoint)
        self._trim()

    @contextmanager
    def held_base(self, record: Record) -> Iterator[Path]:
        """The whole model that the training of a checkpoint began with."""
        checkpoint, part = read_reference(record.base)
        with self._held(checkpoint, self.require(checkpoint), False) as folder:
            yield folder / part

    @contextmanager
    def located(self, place: Path) -> Iterator[Path]:
        """The folder that a policy server is told to load; an absolute one is where it is."""
        if place.is_absolute():
            yield place
            return
        checkpoint, part = read_reference(place.as_posix())
        with self.held(checkpoint) as folder:
            yield folder / part

    @contextmanager
    def making(self, checkpoint: CheckpointName, identity: str) -> Iterator[bool]:
        """One process at a time; whether a killed one made it already, of the same request."""
        with self._lock(checkpoint) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            local = self._local_record(checkpoint)
            yield local is not None and local.identity == identity
        self._trim()

    def keep(self, checkpoint: CheckpointName) -> Record:
        """Copies what was made to the artifacts, and returns the record that counts from now on."""
        folder, made = checkpoint_folder(self.root, checkpoint), self._local_record(checkpoint)
        if made is None:
            raise CheckpointMissing(f"{folder} is gone before it was kept: leave it alone.")
        return keep_checkpoint(self._artifacts, checkpoint, folder, made).record

    def forget_moments(self, checkpoint: CheckpointName) -> None:
        """Drops those of a checkpoint that is not the newest any more, here and there."""
        forget_moments(self._artifacts, checkpoint)
        folder = checkpoint_folder(self.root, checkpoint) / TRAINER_FOLDER
        (folder / MOMENTS_FILE).unlink(missing_ok=True)

    @contextmanager
    def _held(
        self, checkpoint: CheckpointName, stored: StoredCheckpoint, to_go_on: bool
    ) -> Iterator[Path]:
        parts = {Path(file.path).parts[0] for file in stored.files}
        if not to_go_on:
            parts -= {TRAINER_FOLDER}
        folder = checkpoint_folder(self.root, checkpoint)
        with self._lock(checkpoint) as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            while not self._has(checkpoint, stored, parts):
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not self._has(checkpoint, stored, parts):
                    self._fetch(checkpoint, stored, parts)
                # Another process may come in between, and remove it.
                fcntl.flock(lock, fcntl.LOCK_SH)
            os.utime(folder / RESULT_FILE)
            yield folder

    def _has(self, checkpoint: CheckpointName, stored: StoredCheckpoint, parts: set[str]) -> bool:
        folder = checkpoint_folder(self.root, checkpoint)
        is_same = self._local_record(checkpoint) == stored.record
        return is_same and all((folder / part).is_dir() for part in parts)

    def _local_record(self, checkpoint: CheckpointName) -> Record | None:
        """One that cannot be read is none: there is another copy."""
        try:
            return read_record(self.root, checkpoint)
        except CheckpointUnreadable:
            return None

    def _fetch(self, checkpoint: CheckpointName, stored: StoredCheckpoint, parts: set[str]) -> None:
        def build(folder: Path) -> Record:
            wanted = [file for file in stored.files if Path(file.path).parts[0] in parts]
            fetch_files(self._artifacts, wanted, folder)
            return stored.record

        make_checkpoint(self.root, checkpoint, build)

    def _trim(self) -> None:
        """Removes those that were not used for the longest time, beyond the number that stays."""
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
        """A file to be locked. It is never removed: another process may wait for it."""
        folder = checkpoint_folder(self.root, checkpoint)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with folder.with_name(f".{folder.name}.lock").open("a") as lock:
            yield lock


def read_reference(reference: str) -> tuple[CheckpointName, str]:
    """Reads what `Record.folder` and `Record.base` hold. Raises `BadRequest`."""
    found = _REFERENCE.fullmatch(reference)
    if found is None:
        raise BadRequest(
            f"{reference!r} names no checkpoint: expected one such as nightly/000040/adapter."
        )
    return CheckpointName(trainRun=found[1], name=found[2]), found[3]


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
