"""The contract between workflows and trainer: its messages as types, and the check against it.

`contract.json` is written from `src/training/trainer-contract.ts` by `npm run contract`; what each
field is for is documented there. The types say the same to the type checker, and a test compares
them with it.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias, TypedDict

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from conductor_trainer.errors import BadRequest

JsonObject: TypeAlias = dict[str, Any]


def check_request(activity: str, payload: Any) -> None:
    """Refuses what the contract does not allow an activity to be asked.

    Raises `BadRequest`, which names the field and what is wrong with it.
    """
    check_message(_contract()["activities"][activity]["request"], payload)


def check_message(name: str, payload: Any) -> None:
    """The same for a message by its own name, e.g. `batchRow`."""
    worst = best_match(_validator(name).iter_errors(payload))
    if worst is None:
        return
    said = worst.message if len(worst.message) <= 300 else f"{worst.message[:300]} …"
    raise BadRequest(
        f"{name}{worst.json_path.removeprefix('$')} is not what the contract says: {said}; "
        "workflow and trainer must be of the same version"
    )


@cache
def _contract() -> Any:
    return json.loads(files("conductor_trainer").joinpath("contract.json").read_text())


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(_contract()["messages"][name])


class StoredBytes(TypedDict):
    key: str
    sha256: str


class FolderBase(TypedDict):
    kind: Literal["folder"]
    path: str


class TinyBase(TypedDict):
    kind: Literal["tiny"]
    texts: StoredBytes
    vocabulary: int
    hidden: int
    layers: int
    heads: int
    keyValueHeads: int
    feedForward: int
    maxPositions: int
    initializerRange: float


class FullTuning(TypedDict):
    kind: Literal["full"]


class LoraTuning(TypedDict):
    kind: Literal["lora"]
    rank: int
    alpha: float
    targets: str


Tuning: TypeAlias = FullTuning | LoraTuning


class Loss(TypedDict):
    name: Literal["dapo", "grpo", "bnpo", "dr_grpo"]
    epsilon: float
    epsilonHigh: float
    beta: float
    correction: Literal[
        "none", "token_truncate", "token_mask", "sequence_truncate", "sequence_mask"
    ]
    mostWeight: float
    maskTruncated: bool


Schedule = Literal["constant", "cosine", "linear", "wsd"]


class Optimizer(TypedDict):
    learningRate: float
    beta1: float
    beta2: float
    epsilon: float
    weightDecay: float
    maxGradNorm: float
    schedule: Schedule
    warmupSteps: int
    totalSteps: int


class Config(TypedDict):
    seed: int
    device: Literal["cpu", "cuda"]
    precision: Literal["float32", "bfloat16"]
    tuning: Tuning
    loss: Loss
    optimizer: Optimizer
    scale: Literal["group", "none"]
    rollouts: int
    groupSize: int
    microBatch: int
    processes: int
    offload: bool
    iterations: int
    temperature: float
    maxPromptTokens: int
    maxCompletionTokens: int


class CheckpointName(TypedDict):
    trainRun: str
    name: str


class InitRequest(TypedDict):
    trainRun: str
    base: FolderBase | TinyBase
    config: Config


class WarmStartRequest(TypedDict):
    trainRun: str
    parent: CheckpointName
    name: str
    examples: StoredBytes
    steps: int
    batch: int
    learningRate: float
    warmupSteps: int
    weights: Literal["tuned", "all"]
    config: Config


class PreflightRequest(TypedDict):
    checkpoint: CheckpointName
    config: Config


class UpdateRequest(TypedDict):
    trainRun: str
    cycle: int
    parent: CheckpointName
    batch: StoredBytes
    config: Config


class ScoreRequest(TypedDict):
    checkpoint: CheckpointName
    cycle: int
    batch: StoredBytes
    rollouts: int
    temperature: float
    config: Config


class ExportRequest(TypedDict):
    checkpoint: CheckpointName
    directory: str


class PublishRequest(TypedDict):
    checkpoint: CheckpointName
    servers: list[str]
    tolerance: float


class PublishResult(TypedDict):
    model: str
    logprobGap: float


class RetireRequest(TypedDict):
    trainRun: str
    keep: list[str]
    servers: list[str]


class RetireResult(TypedDict):
    retired: list[str]


class CollectRequest(TypedDict):
    trainRun: str
    keep: list[str]


class CollectResult(TypedDict):
    removed: list[str]
    bytes: int
