"""Folders that are either complete or absent, even if a process is killed at any moment."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from conductor_trainer.errors import DiskFull, TrainerError

T = TypeVar("T")

_SIGNS = tuple(os.strerror(each) for each in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
"""System messages of errors caused by lack of space."""

_GOING = ".going-"
"""Prefix of a folder that counts as already removed."""


def place_whole(final: Path, fill: Callable[[Path], T]) -> T:
    """Fills a temporary folder beside `final`, then renames it into place. Raises `DiskFull`.

    Only one process may do so at a time, as in any `workplace`.
    """
    with workplace(final) as temporary:
        try:
            result = fill(temporary)
            sync_tree(temporary)
            remove_folder(final)
            temporary.rename(final)
            sync(final.parent)
            return result
        except BaseException as error:
            if not isinstance(error, TrainerError) and is_disk_full(error, temporary):
                raise DiskFull(
                    f"The disk of {final.parent} was full while {final.name} was written "
                    f"({error}). Nothing of it was kept: free some space there, keep fewer "
                    "checkpoints with --cached, or lower `training.keep`."
                ) from error
            raise


@contextmanager
def workplace(final: Path) -> Iterator[Path]:
    """Yields an empty folder beside `final`, which is removed in the end.

    Only one process may do so at a time, since it deletes what a killed one left.
    """
    final.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".tmp-{final.name}-"
    for leftover in final.parent.iterdir():
        # Another process may be making `warm-1a2b3c4d` beside `warm`.
        if leftover.name.startswith(prefix) and leftover.name.removeprefix(prefix).isdecimal():
            shutil.rmtree(leftover)
    temporary = final.with_name(f"{prefix}{os.getpid()}")
    temporary.mkdir()
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def remove_folder(folder: Path) -> int:
    """Removes a folder, if it exists, at once for all readers; returns the bytes that it held."""
    going = folder.with_name(f"{_GOING}{folder.name}-{uuid4()}")
    try:
        folder.rename(going)
    except FileNotFoundError:
        return 0
    return _delete(going)


def sweep(parent: Path) -> int:
    """Finishes removals that a killed process began, and returns the bytes that were left."""
    return sum(map(_delete, parent.glob(f"{_GOING}*")))


def _delete(folder: Path) -> int:
    size = sum(
        (Path(at) / file).stat().st_size for at, _, files in os.walk(folder) for file in files
    )
    shutil.rmtree(folder)
    return size


def sync_tree(folder: Path) -> None:
    """Syncs all files to disk, readable for other users' servers, and then the folders."""
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
    """Tells whether lack of space caused an error; the written files must still be in the folder.

    safetensors repeats the system's message, but torch only names a position in a stream, so a
    small trial file shows whether there is space.
    """
    trial = folder / ".trial"
    try:
        trial.write_bytes(bytes(1 << 20))
    except OSError as refusal:
        error = refusal
    finally:
        trial.unlink(missing_ok=True)
    return any(sign in str(error) for sign in _SIGNS)
