"""What every maker of a checkpoint writes down at its end, and answers with."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from transformers import PreTrainedTokenizerBase

from conductor_trainer.checkpoint import Record
from conductor_trainer.model import Policy, kind_of, save_policy, tokenizer_sha256
from conductor_trainer.probe import take_probe
from conductor_trainer.requests import CheckpointName, Config, JsonObject
from conductor_trainer.weights import weights_sha256

LIBRARIES = ("torch", "transformers", "trl", "peft")


@dataclass(frozen=True)
class Made:
    """A checkpoint in the making: what for, from what, and where it lies until it is renamed into place."""

    root: Path
    temporary: Path
    target: CheckpointName
    identity: str
    base: str
    """The whole model it began with, below the root or absolute."""
    config: Config
    step: int
    """Optimizer steps behind it in its training run."""

    def place(self, part: str) -> str:
        """Where a part of the checkpoint will lie, below the root."""
        return f"{self.target['trainRun']}/{self.target['name']}/{part}"


def save_record(
    made: Made,
    policy: Policy,
    tokenizer: PreTrainedTokenizerBase,
    tokenizer_from: Path,
    outcome: JsonObject,
) -> Record:
    """Saves what a policy server loads, and says what it is."""
    kind = kind_of(made.config["tuning"])
    save_policy(policy, made.root / made.base, tokenizer_from, made.temporary / kind)
    return record_of(made, policy, tokenizer, made.temporary / kind, made.place(kind), outcome)


def record_of(
    made: Made,
    policy: Policy,
    tokenizer: PreTrainedTokenizerBase,
    saved: Path,
    folder: str,
    outcome: JsonObject,
) -> Record:
    """Says what lies in a folder already; `folder` is where it will be found."""
    return Record(
        identity=made.identity,
        kind=kind_of(made.config["tuning"]),
        folder=folder,
        base=made.base,
        weightsSha256=weights_sha256(saved),
        tokenizerSha256=tokenizer_sha256(saved),
        step=made.step,
        probe=take_probe(policy, tokenizer),
        config=made.config,
        outcome=outcome,
        versions={library: version(library) for library in LIBRARIES},
    )


def describe(root: Path, target: CheckpointName, record: Record, replayed: bool) -> JsonObject:
    """The answer of the contract."""
    return {
        "checkpoint": {
            **target,
            "path": str(root / record.folder),
            "kind": record.kind,
            "weightsSha256": record.weightsSha256,
            "tokenizerSha256": record.tokenizerSha256,
        },
        "replayed": replayed,
        **record.outcome,
    }
