"""What a checkpoint is, on disk.

`<root>/<training run>/<name>/` holds `RESULT.json` (what it is and what it was made from),
`model/` or `adapter/` (what a policy server loads) and, after an update, `trainer/` (optimizer,
schedule and random state, to go on from).
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from conductor_trainer.errors import CheckpointMissing, CheckpointUnreadable
from conductor_trainer.requests import CheckpointName, Config, JsonObject

RESULT_FILE = "RESULT.json"
TRAINER_FOLDER = "trainer"


@dataclass(frozen=True)
class Probe:
    """Fixed tokens and what the checkpoint thinks of them: who serves it must think the same.

    `logprobs[i]` is the log-probability, at temperature 1, of `tokenIds[i + 1]` after all before.
    """

    tokenIds: list[int]
    logprobs: list[float]


@dataclass(frozen=True)
class Record:
    """What `RESULT.json` says."""

    identity: str
    """Of what it was made from: the same request finds the checkpoint, another is a conflict."""
    kind: Literal["model", "adapter"]
    folder: str
    """What a policy server loads: below the root, or absolute for a base used in its own place."""
    base: str
    """The whole model that training began with, written like `folder`."""
    weightsSha256: str
    tokenizerSha256: str
    vocabulary: int
    """How many token ids the model knows, those that no text has included."""
    step: int
    """Optimizer steps behind it in its training run; a warm start does not count."""
    probe: Probe
    config: Config
    outcome: JsonObject = field(default_factory=dict)
    """What its maker reported besides: loss, metrics, seconds."""
    versions: dict[str, str] = field(default_factory=dict)
    """Of the libraries that made it."""
    schema: int = 1

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"


def identity_of(job: str, request: Any) -> str:
    """SHA-256 of a request. Where its bytes are stored does not count, but their own SHA-256."""
    text = json.dumps([job, _without_keys(request)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def checkpoint_folder(root: Path, checkpoint: CheckpointName) -> Path:
    """Where a checkpoint lies, or will."""
    return root / checkpoint["trainRun"] / checkpoint["name"]


def read_record(root: Path, checkpoint: CheckpointName) -> Record | None:
    """None where there is no such checkpoint. Raises `CheckpointUnreadable`."""
    file = checkpoint_folder(root, checkpoint) / RESULT_FILE
    try:
        fields = json.loads(file.read_text())
        return Record(**{**fields, "probe": Probe(**fields["probe"])})
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as cause:
        raise CheckpointUnreadable(
            f"{file} cannot be read ({type(cause).__name__}: {cause}): it was altered, or is of "
            "another version. Put back a copy of the checkpoint, or go on from another one."
        ) from cause


def require_record(root: Path, checkpoint: CheckpointName) -> Record:
    """Raises `CheckpointMissing` or `CheckpointUnreadable`."""
    record = read_record(root, checkpoint)
    if record is None:
        raise CheckpointMissing(
            f"There is no checkpoint {checkpoint['trainRun']}/{checkpoint['name']} below {root}: "
            "it was never made, was collected, or lies on another volume. Mount the right one, or "
            "go on from another checkpoint."
        )
    return record


def _without_keys(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if set(value) == {"key", "sha256"}:
        return {"sha256": value["sha256"]}
    return {name: _without_keys(each) for name, each in value.items()}
