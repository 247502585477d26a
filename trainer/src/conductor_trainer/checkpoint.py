"""What a checkpoint is on this disk, beside the artifacts (see `stored_checkpoint.py`).

`<root>/<training run>/<name>/` holds `RESULT.json` (what it is and what it was made from),
`model/` or `adapter/` (what a policy server loads) and, after an update, `trainer/` (optimizer,
schedule and random state, to continue from).
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from conductor_trainer.contract import CheckpointName, Config, JsonObject
from conductor_trainer.errors import CheckpointMissing, CheckpointUnreadable, Conflict
from conductor_trainer.whole_folder import place_whole, remove_folder, sweep

RESULT_FILE = "RESULT.json"
TRAINER_FOLDER = "trainer"
MOMENTS_FILE = "optimizer.pt"
"""In it: the moments of the gradients, which only the newest checkpoint of a run keeps."""


@dataclass(frozen=True)
class Probe:
    """Fixed tokens and the checkpoint's log-probabilities of them, which a server must reproduce.

    `logprobs[i]` is the log-probability, at temperature 1, of `tokenIds[i + 1]` after all before.
    """

    tokenIds: list[int]
    logprobs: list[float]


@dataclass(frozen=True)
class Record:
    identity: str
    """Of what it was made from: the same request finds the checkpoint, another is a conflict."""
    kind: Literal["model", "adapter"]
    folder: str
    """What a policy server loads, below the root: `<training run>/<name>/adapter`, say."""
    base: str
    """The whole model that training began with, written like `folder`."""
    weightsSha256: str
    tokenizerSha256: str
    vocabulary: int
    step: int
    """Optimizer steps of its training run so far; a warm start does not count."""
    probe: Probe
    config: Config
    parent: CheckpointName | None = None
    first: CheckpointName | None = None
    """What its training run began to learn from: the warm start, the base, or another run's."""
    outcome: JsonObject = field(default_factory=dict)
    """What else its maker reported: loss, metrics, seconds."""
    versions: dict[str, str] = field(default_factory=dict)
    schema: int = 1

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"


def identity_of(job: str, request: Any) -> str:
    """SHA-256 of a request. Where its bytes are stored does not count, but their own SHA-256."""
    text = json.dumps([job, _without_keys(request)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def id_of(checkpoint: CheckpointName) -> str:
    """As rows of a batch and people call it."""
    return f"{checkpoint['trainRun']}/{checkpoint['name']}"


def checkpoint_folder(root: Path, checkpoint: CheckpointName) -> Path:
    return root / checkpoint["trainRun"] / checkpoint["name"]


def read_record(root: Path, checkpoint: CheckpointName) -> Record | None:
    """None where there is no such checkpoint. Raises `CheckpointUnreadable`."""
    file = checkpoint_folder(root, checkpoint) / RESULT_FILE
    try:
        return record_from(json.loads(file.read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as cause:
        raise CheckpointUnreadable(
            f"{file} cannot be read ({type(cause).__name__}: {cause}): it was altered, or written "
            "by another version. Restore a copy of the checkpoint, or continue from another one."
        ) from cause


def record_from(fields: Any) -> Record:
    """Reads what `RESULT.json` says. Raises what Python does where it is none."""
    return Record(**{**fields, "probe": Probe(**fields["probe"])})


def make_checkpoint(
    root: Path, checkpoint: CheckpointName, build: Callable[[Path], Record]
) -> Record:
    """Has a checkpoint built, whole or not at all. See `CheckpointCache.making`."""

    def fill(folder: Path) -> Record:
        record = build(folder)
        (folder / RESULT_FILE).write_text(record.to_json())
        return record

    return place_whole(checkpoint_folder(root, checkpoint), fill)


def describe(target: CheckpointName, record: Record, replayed: bool) -> JsonObject:
    return {
        "checkpoint": {
            **target,
            "folder": record.folder,
            "kind": record.kind,
            "weightsSha256": record.weightsSha256,
            "tokenizerSha256": record.tokenizerSha256,
            "vocabulary": record.vocabulary,
        },
        "replayed": replayed,
        **record.outcome,
    }


def require_same(existing: Record, checkpoint: CheckpointName, identity: str) -> None:
    if existing.identity != identity:
        raise Conflict(
            f"The checkpoint {id_of(checkpoint)} was made from another request "
            f"({existing.identity[:12]}, now {identity[:12]}): with another batch, parent or "
            "settings. Checkpoints never change; use another name for the training run."
        )


def require_record(root: Path, checkpoint: CheckpointName) -> Record:
    record = read_record(root, checkpoint)
    if record is None:
        raise CheckpointMissing(
            f"There is no checkpoint {id_of(checkpoint)} below {root}: it was never made, was "
            "collected, or is on another volume. Mount the right one, or continue from another "
            "checkpoint."
        )
    return record


def _without_keys(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if set(value) == {"key", "sha256"}:
        return {"sha256": value["sha256"]}
    return {name: _without_keys(each) for name, each in value.items()}


def collect(root: Path, request: JsonObject) -> JsonObject:
    """Removes the checkpoints of cycles from this machine, except those that the request keeps.

    `base` and the warm start always stay: adapters are useless without the model they adapt.
    """
    run_folder = root / request["trainRun"]
    made = sorted(path.parent.name for path in run_folder.glob(f"[!.]*/{RESULT_FILE}"))
    old = [name for name in made if name.isdecimal() and name not in request["keep"]]
    size = sweep(run_folder) + sum(remove_folder(run_folder / name) for name in old)
    return {"removed": old, "bytes": size}
