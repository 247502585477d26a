"""Makes checkpoints whole or not at all, and never changes one."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from conductor_trainer.checkpoint import (
    RESULT_FILE,
    Record,
    checkpoint_folder,
    read_record,
    require_same,
)
from conductor_trainer.contract import CheckpointName
from conductor_trainer.errors import DiskFull, TrainerError, is_disk_full


def make_once(
    root: Path,
    checkpoint: CheckpointName,
    identity: str,
    build: Callable[[Path], Record],
) -> tuple[Record, bool]:
    """Builds a checkpoint in a folder of its own and renames it into place.

    Returns its record, and True where it was there already. A process that dies, at whatever
    moment, leaves nothing but a temporary folder, which the next one sweeps away. Raises
    `Conflict` where another request made it, and `DiskFull` where there is no room for it.
    """
    final = checkpoint_folder(root, checkpoint)
    final.parent.mkdir(parents=True, exist_ok=True)
    with _locked(final.parent):
        existing = read_record(root, checkpoint)
        if existing is not None:
            require_same(existing, checkpoint, identity)
            return existing, True
        temporary = final.with_name(f".tmp-{checkpoint['name']}-{os.getpid()}")
        temporary.mkdir()
        try:
            record = build(temporary)
            (temporary / RESULT_FILE).write_text(record.to_json())
            sync_tree(temporary)
            temporary.rename(final)
            sync(final.parent)
        except BaseException as error:
            is_full = not isinstance(error, TrainerError) and is_disk_full(error, temporary)
            shutil.rmtree(temporary, ignore_errors=True)
            if is_full:
                raise DiskFull(
                    f"The disk of {final.parent} took no more while {checkpoint['name']} was "
                    f"written ({error}). Nothing of it was kept: make room there, or set "
                    "`training.keep` lower."
                ) from error
            raise
        return record, False


def sync_tree(folder: Path) -> None:
    """Brings every file below to the disk, readable for other users' servers, then its folders."""
    for directory, _, files in os.walk(folder, topdown=False):
        for file in files:
            path = Path(directory) / file
            path.chmod(0o644)
            sync(path)
        sync(Path(directory))


@contextmanager
def _locked(run_folder: Path) -> Iterator[None]:
    """Holds a training run for this process alone; what a dead one left is swept away.

    A second process waits. The kernel releases the lock when its holder dies, however it dies.
    """
    with (run_folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for leftover in run_folder.glob(".tmp-*"):
            shutil.rmtree(leftover)
        yield


def sync(path: Path) -> None:
    """Has the disk take a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
