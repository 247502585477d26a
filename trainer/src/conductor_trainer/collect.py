"""Removes old checkpoints from the disk."""

import os
import shutil
from pathlib import Path

from conductor_trainer.requests import CollectRequest, CollectResult

_GOING = ".going-"
"""What a folder is called from the moment it counts as gone."""


def collect(root: Path, request: CollectRequest) -> CollectResult:
    """Removes the checkpoints of cycles, less those that the request keeps.

    `base` and the warm start always stay: adapters are nothing without what they adapt.
    """
    run_folder = root / request["trainRun"]
    removed, size = [], 0
    for name in cycles_in(run_folder):
        if name in request["keep"]:
            continue
        # Gone for everybody at once; a collection that was killed halfway is finished by the next.
        (run_folder / name).rename(run_folder / f"{_GOING}{name}")
        removed.append(name)
    for going in run_folder.glob(f"{_GOING}*"):
        size += _size_of(going)
        shutil.rmtree(going)
    return {"removed": removed, "bytes": size}


def checkpoints_in(run_folder: Path) -> list[str]:
    """The names of all checkpoints of a training run, in ascending order."""
    return sorted(path.parent.name for path in run_folder.glob("[!.]*/RESULT.json"))


def cycles_in(run_folder: Path) -> list[str]:
    """The same for those that cycles made, oldest first."""
    return [name for name in checkpoints_in(run_folder) if name.isdecimal()]


def _size_of(folder: Path) -> int:
    return sum(
        (Path(at) / file).stat().st_size for at, _, files in os.walk(folder) for file in files
    )
