"""Folders that are whole or not there, whatever process dies when."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from conductor_trainer.errors import DiskFull, TrainerError

T = TypeVar("T")

_SIGNS = tuple(os.strerror(each) for each in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
"""Of an error that came from a lack of room."""

_GOING = ".going-"
"""Prefix of a folder that counts as removed already."""


def place_whole(final: Path, fill: Callable[[Path], T]) -> T:
    """Has a folder filled beside its place, and moves it there. Raises `DiskFull`.

    One process does so at a time: what another one left, which was killed, is swept away.
    """
    final.parent.mkdir(parents=True, exist_ok=True)
    for leftover in final.parent.glob(f".tmp-{final.name}-*"):
        shutil.rmtree(leftover)
    temporary = final.with_name(f".tmp-{final.name}-{os.getpid()}")
    temporary.mkdir()
    try:
        result = fill(temporary)
        sync_tree(temporary)
        remove_folder(final)
        temporary.rename(final)
        sync(final.parent)
        return result
    except BaseException as error:
        is_full = not isinstance(error, TrainerError) and is_disk_full(error, temporary)
        shutil.rmtree(temporary, ignore_errors=True)
        if is_full:
            raise DiskFull(
                f"The disk of {final.parent} was full while {final.name} was written ({error}). "
                "Nothing of it was kept: free some space there, keep fewer checkpoints with "
                "--cached, or lower `training.keep`."
            ) from error
        raise


def remove_folder(folder: Path) -> int:
    """Removes a folder at once for all readers, if it is there, and returns its bytes."""
    going = folder.with_name(f"{_GOING}{folder.name}-{uuid4()}")
    try:
        folder.rename(going)
    except FileNotFoundError:
        return 0
    return _delete(going)


def sweep(parent: Path) -> int:
    """Deletes what a killed process left of a removal, and returns its bytes."""
    return sum(map(_delete, parent.glob(f"{_GOING}*")))


def _delete(folder: Path) -> int:
    size = sum(
        (Path(at) / file).stat().st_size for at, _, files in os.walk(folder) for file in files
    )
    shutil.rmtree(folder)
    return size


def sync_tree(folder: Path) -> None:
    """Brings every file below to the disk, readable for other users' servers, then its folders."""
    for directory, _, files in os.walk(folder, topdown=False):
        for file in files:
            path = Path(directory) / file
            path.chmod(0o644)
            sync(path)
        sync(Path(directory))


def sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_disk_full(error: BaseException, folder: Path) -> bool:
    """Whether an error came from a lack of room; what was written must still lie in the folder.

    safetensors repeats the system's message, but torch only names a position in a stream. Where the
    message says nothing, a small trial file shows whether there is room.
    """
    trial = folder / ".trial"
    try:
        trial.write_bytes(bytes(1 << 20))
    except OSError as refusal:
        error = refusal
    finally:
        trial.unlink(missing_ok=True)
    return any(sign in str(error) for sign in _SIGNS)
