"""Checkpoints on disk: made once, whole or not at all, and never changed.

`<root>/<training run>/<name>/` holds `RESULT.json` (what it is and what it was made from), `model/` or `adapter/` (what the
policy server loads) and, after an update, `trainer/` (optimizer, schedule and random state, to go on from).
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from conductor_trainer.errors import CheckpointMissing, Conflict
from conductor_trainer.requests import CheckpointName, Config, JsonObject

RESULT_FILE = "RESULT.json"
TRAINER_FOLDER = "trainer"


@dataclass(frozen=True)
class Probe:
    """Fixed tokens and what the checkpoint thinks of them at temperature 1: whoever serves it must think the same.

    `logprobs[i]` is the log-probability of `tokenIds[i + 1]` after all tokens before it.
    """

    tokenIds: list[int]
    logprobs: list[float]


@dataclass(frozen=True)
class Record:
    """What `RESULT.json` says."""

    identity: str
    """SHA-256 of what the checkpoint was made from: the same request finds it, another one is a conflict."""
    kind: Literal["model", "adapter"]
    folder: str
    """What a policy server loads: below the root, or absolute where an untouched base model is used in its own place."""
    base: str
    """The whole model that the training began with, written like `folder`."""
    weightsSha256: str
    tokenizerSha256: str
    step: int
    """Optimizer steps behind it in its training run; a warm start does not count."""
    probe: Probe
    config: Config
    outcome: JsonObject = field(default_factory=dict)
    """What its maker reported besides: loss, metrics, seconds."""
    versions: dict[str, str] = field(default_factory=dict)
    schema: int = 1


def identity_of(job: str, request: Any) -> str:
    """Keys of stored bytes do not count, for their SHA-256 tells what they hold."""

    def without_keys(value: Any) -> Any:
        if isinstance(value, dict):
            is_stored = set(value) == {"key", "sha256"}
            return {k: without_keys(v) for k, v in value.items() if not (is_stored and k == "key")}
        return value

    text = json.dumps([job, without_keys(request)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def checkpoint_folder(root: Path, checkpoint: CheckpointName) -> Path:
    return root / checkpoint["trainRun"] / checkpoint["name"]


def read_record(root: Path, checkpoint: CheckpointName) -> Record | None:
    """None where there is no such checkpoint."""
    try:
        text = (checkpoint_folder(root, checkpoint) / RESULT_FILE).read_text()
    except FileNotFoundError:
        return None
    fields = json.loads(text)
    return Record(**{**fields, "probe": Probe(**fields["probe"])})


def require_record(root: Path, checkpoint: CheckpointName) -> Record:
    record = read_record(root, checkpoint)
    if record is None:
        raise CheckpointMissing(
            f"There is no checkpoint {checkpoint['trainRun']}/{checkpoint['name']} below {root}: it was never made, was "
            "collected, or lies on another volume. Mount the right one, or go on from another checkpoint."
        )
    return record


def make_once(
    root: Path,
    checkpoint: CheckpointName,
    identity: str,
    build: Callable[[Path], Record],
) -> tuple[Record, bool]:
    """Build a checkpoint in a folder of its own and rename it into place; True where it was there already.

    A process that dies at any moment leaves nothing but a temporary folder, which the next one sweeps away.
    """
    run_folder = root / checkpoint["trainRun"]
    run_folder.mkdir(parents=True, exist_ok=True)
    with locked(run_folder):
        existing = read_record(root, checkpoint)
        if existing is not None:
            require_same(existing, checkpoint, identity)
            return existing, True
        temporary = run_folder / f".tmp-{checkpoint['name']}-{os.getpid()}"
        temporary.mkdir()
        try:
            record = build(temporary)
            (temporary / RESULT_FILE).write_text(json.dumps(asdict(record), indent=1) + "\n")
            sync_tree(temporary)
            temporary.rename(run_folder / checkpoint["name"])
            sync(run_folder)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        return record, False


def require_same(existing: Record, checkpoint: CheckpointName, identity: str) -> None:
    if existing.identity != identity:
        raise Conflict(
            f"The checkpoint {checkpoint['trainRun']}/{checkpoint['name']} was made from another request "
            f"({existing.identity[:12]}, now {identity[:12]}): other batch, parent or settings. Checkpoints never change; "
            "use a training run of another name."
        )


@contextmanager
def locked(run_folder: Path) -> Iterator[None]:
    """Hold a training run for this process alone, waiting for whoever holds it; what a dead one left is swept away.

    The kernel gives the lock back when its holder dies, however it dies.
    """
    with (run_folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for leftover in run_folder.glob(".tmp-*"):
            shutil.rmtree(leftover)
        yield


def sync_tree(folder: Path) -> None:
    """Bring every file below to the disk, then the folders that name them."""
    for directory, _, files in os.walk(folder, topdown=False):
        for file in files:
            sync(Path(directory) / file)
        sync(Path(directory))


def sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
