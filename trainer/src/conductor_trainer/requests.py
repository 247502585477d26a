"""The messages of `contract.json` as Python sees them, once they have been checked against it.

The one source is `src/training/trainer-contract.ts`; what each field is for is told there.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

JsonObject = dict[str, Any]


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


class Tuning(TypedDict):
    kind: Literal["full", "lora"]
    rank: NotRequired[int]
    alpha: NotRequired[float]
    targets: NotRequired[str]


class Loss(TypedDict):
    name: Literal["dapo", "grpo", "bnpo", "dr_grpo"]
    epsilon: float
    epsilonHigh: float
    beta: float


class Optimizer(TypedDict):
    learningRate: float
    beta1: float
    beta2: float
    epsilon: float
    weightDecay: float
    maxGradNorm: float
    schedule: Literal["constant", "cosine", "linear"]
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
    config: Config


class UpdateRequest(TypedDict):
    trainRun: str
    cycle: int
    parent: CheckpointName
    batch: StoredBytes
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
