"""Checkpoints on the local disk; `checkpoint_cache.py` stores them among the artifacts.

`<root>/<training run>/<name>/` holds `RESULT.json` (what it is and what it was made from),
`model/` or `adapter/` (what a policy server loads) and, after an update, `trainer/` (optimizer,
schedule and random state, for the next update).
"""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from conductor_trainer.contract import CheckpointName, Config, JsonObject
from conductor_trainer.errors import CheckpointMissing, Conflict
from conductor_trainer.whole_folder import place_whole

RESULT_FILE = "RESULT.json"
TRAINER_FOLDER = "trainer"
MOMENTS_FOLDER = "optimizer"
"""Folder in `TRAINER_FOLDER` with the gradient moments; only a run's newest checkpoint has it."""


@dataclass(frozen=True)
class Probe:
    """Fixed tokens and the checkpoint's log-probabilities for them, which a server must reproduce.

    `logprobs[i]` is the log-probability of `tokenIds[i + 1]` at temperature 1, given all before.
    """

    tokenIds: list[int]
    logprobs: list[float]


@dataclass(frozen=True)
class Thoughts:
    """What ends a reply's thoughts: `thoughts` of the contract."""

    end: int
    """Token of the tokenizer's own, which no other text becomes."""
    text: str
    """What that token is in a reply's text."""


@dataclass(frozen=True)
class Chat:
    """What prompts need to know of a model beside its chat template: `chat` of the contract."""

    markers: list[str]
    """Texts that its tokenizer reads as single control tokens."""
    ends: list[int]
    """Tokens that end a reply; the first is the one that its template writes."""
    system: bool
    """Whether its template has a system turn."""
    thoughts: Thoughts | None = None
    """None if it has none that can be told from its replies, or an earlier version made it."""


@dataclass(frozen=True)
class Record:
    identity: str
    """Hash of the request that made it; a different request for its name is a conflict."""
    kind: Literal["model", "adapter"]
    folder: str
    """Folder that a policy server loads, below the root, e.g. `<training run>/<name>/adapter`."""
    base: str
    """Whole model that training began with, in the same form as `folder`."""
    weightsSha256: str
    tokenizerSha256: str
    vocabulary: int
    step: int
    """Optimizer steps of its training run so far; a warm start does not count."""
    probe: Probe
    config: Config
    parent: CheckpointName | None = None
    first: CheckpointName | None = None
    """Checkpoint its training run started from: the warm start, the base, or another run's."""
    outcome: JsonObject = field(default_factory=dict)
    """Other results of the step that made it: loss, metrics, seconds."""
    versions: dict[str, str] = field(default_factory=dict)
    chat: Chat | None = None
    """None if an earlier version made it."""
    schema: int = 1

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"


def identity_of(job: str, request: Any) -> str:
    """Returns the SHA-256 of a request; its files count by their SHA-256, not by their keys."""
    # Which servers sleep meanwhile does not change what is made.
    asked = {name: value for name, value in request.items() if name != "asleep"}
    text = json.dumps([job, _without_keys(asked)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def id_of(checkpoint: CheckpointName) -> str:
    """Returns the id that batch rows and messages use."""
    return f"{checkpoint['trainRun']}/{checkpoint['name']}"


def checkpoint_folder(root: Path, checkpoint: CheckpointName) -> Path:
    return root / checkpoint["trainRun"] / checkpoint["name"]


def read_record(root: Path, checkpoint: CheckpointName) -> Record | None:
    """Returns None if there is none that can be read: it can be fetched or made again."""
    with suppress(FileNotFoundError, ValueError, TypeError, KeyError):
        file = checkpoint_folder(root, checkpoint) / RESULT_FILE
        return record_from(json.loads(file.read_text()))
    return None


def record_from(fields: Any) -> Record:
    """Reads the content of `RESULT.json`. Raises `TypeError` or `KeyError` if it is invalid."""
    probe, chat = Probe(**fields["probe"]), fields.get("chat")
    return Record(**{**fields, "probe": probe, "chat": chat and _chat_from(chat)})


def _chat_from(fields: Any) -> Chat:
    chat = Chat(**fields)
    thoughts: Any = chat.thoughts
    return replace(chat, thoughts=thoughts and Thoughts(**thoughts))


def make_checkpoint(
    root: Path, checkpoint: CheckpointName, build: Callable[[Path], Record]
) -> Record:
    """Builds a checkpoint, completely or not at all. The caller must hold its exclusive lock."""

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
            "probe": asdict(record.probe),
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
    """Returns the record of a checkpoint that the worker holds in its folder."""
    record = read_record(root, checkpoint)
    if record is None:
        raise CheckpointMissing(
            f"There is no checkpoint {id_of(checkpoint)} below {root}: leave that folder to the "
            "trainer, and try again."
        )
    return record


def _without_keys(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if set(value) == {"key", "sha256"}:
        return {"sha256": value["sha256"]}
    return {name: _without_keys(each) for name, each in value.items()}
