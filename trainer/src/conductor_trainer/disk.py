"""Checks, before a night spends anything, that there is room for the checkpoints that it keeps."""

import os
import shutil
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from conductor_trainer.checkpoint_cache import CheckpointCache
from conductor_trainer.errors import DiskFull


@dataclass(frozen=True)
class Sizes:
    """Bytes of a run's checkpoints, estimated from the model."""

    weights: int
    moments: int
    """Only the newest checkpoint has them, and its parent until the newest is stored."""


def require_space(cache: CheckpointCache, sizes: Sizes, cycles: int) -> None:
    """Raises `DiskFull` if a disk cannot hold what a night of so many cycles leaves there."""
    kept = min(cycles, cache.most + 1) * sizes.weights - cache.replaceable_bytes()
    wanted = [(cache.root, kept)]
    if cache.artifacts.folder is not None:
        # Old checkpoints are removed from the artifacts only when a night ends.
        wanted.append((cache.artifacts.folder, cycles * sizes.weights))
    needed: defaultdict[int, int] = defaultdict(int)
    for place, size in wanted:
        folder = _nearest(place)
        disk = os.stat(folder).st_dev
        needed[disk] += max(0, size) + 2 * sizes.moments
        free = shutil.disk_usage(folder).free
        if needed[disk] > free:
            raise DiskFull(
                f"This night's {cycles} checkpoints need {_gb(needed[disk])} GB on the disk of "
                f"{place} ({_gb(sizes.weights)} each, and {_gb(2 * sizes.moments)} for the newest "
                f"ones' optimizer), but only {_gb(free)} are free. Nothing was paid for. Free some "
                "space there, or lower `training.cycles`."
            )


def _nearest(place: Path) -> Path:
    """Returns the folder, or the one that it will be created in."""
    return next(each for each in (place, *place.parents) if each.is_dir())


def _gb(size: int) -> str:
    return f"{size / 1e9:.1f}" if size >= 5e7 else f"{size / 1e9:.2g}"
