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
        self.artifacts = artifacts
        self._most = most

    def find(self, checkpoint: CheckpointName) -> StoredCheckpoint | None:
        return find_checkpoint(self.artifacts, checkpoint)

    def require(self, checkpoint: CheckpointName) -> StoredCheckpoint:
        """The same. Raises `CheckpointMissing` where there is nothing."""
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
        """Its folder, and its base; both stay. `to_go_on`: with the state of the optimizer."""
        with ExitStack() as stack:
            record = stack.enter_context(self._held(checkpoint, to_go_on))
            if record.kind == "adapter":
                base, _ = read_reference(record.base)
                stack.enter_context(self._held(base, to_go_on=False))
            yield checkpoint_folder(self.root, checkpoint)
        self._trim()

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
            raise CheckpointMissing(f"{folder} was removed before it was kept: leave it in place.")
        return keep_checkpoint(self.artifacts, checkpoint, folder, made).record

    def forget_moments(self, checkpoint: CheckpointName) -> None:
        """Drops those of a checkpoint that is not the newest any more, here and there."""
        forget_moments(self.artifacts, checkpoint)
        folder = checkpoint_folder(self.root, checkpoint) / TRAINER_FOLDER
        (folder / MOMENTS_FILE).unlink(missing_ok=True)

    @contextmanager
    def _held(self, checkpoint: CheckpointName, to_go_on: bool) -> Iterator[Record]:
        stored, folder = self.require(checkpoint), checkpoint_folder(self.root, checkpoint)
        state = f"{TRAINER_FOLDER}/"
        files = [each for each in stored.files if to_go_on or not each.path.startswith(state)]

        def is_there() -> bool:
            is_same = self._local_record(checkpoint) == stored.record
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
                # Another process may come in between, and remove it.
                fcntl.flock(lock, fcntl.LOCK_SH)
            os.utime(folder / RESULT_FILE)
            yield stored.record

    def _local_record(self, checkpoint: CheckpointName) -> Record | None:
        """One that cannot be read is none: there is another copy."""
        try:
            return read_record(self.root, checkpoint)
        except CheckpointUnreadable:
            return None

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
            f"{reference!r} is not a checkpoint: expected one such as nightly/000040/adapter."
        )
    return CheckpointName(trainRun=found[1], name=found[2]), found[3]


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
