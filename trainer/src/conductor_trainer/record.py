"""What every maker of a checkpoint writes down at its end, and answers with."""

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from transformers import PreTrainedTokenizerBase

from conductor_trainer.checkpoint import Record
from conductor_trainer.model import Policy, kind_of, save_policy, tokenizer_sha256
from conductor_trainer.probe import take_probe
from conductor_trainer.requests import CheckpointName, Config, JsonObject
from conductor_trainer.weights import weights_sha256

_LIBRARIES = ("torch", "transformers", "trl", "peft")


@dataclass(frozen=True)
class Made:
    """A checkpoint in the making."""

    root: Path
    temporary: Path
    """Where it lies until it is renamed into place."""
    target: CheckpointName
    identity: str
    base: str
    """The whole model that training began with, below the root or absolute."""
    config: Config
    step: int
    """Optimizer steps behind it in its training run."""


def save_record(
    made: Made,
    policy: Policy,
    tokenizer: PreTrainedTokenizerBase,
    tokenizer_from: Path,
    outcome: JsonObject,
) -> Record:
    """Saves what a policy server loads, and says what it is."""
    kind = kind_of(made.config["tuning"])
    saved = made.temporary / kind
    save_policy(policy, made.root / made.base, tokenizer_from, saved)
    folder = f"{made.target['trainRun']}/{made.target['name']}/{kind}"
    return record_of(made, policy, tokenizer, saved, folder, outcome)


def record_of(
    made: Made,
    policy: Policy,
    tokenizer: PreTrainedTokenizerBase,
    saved: Path,
    folder: str,
    outcome: JsonObject,
) -> Record:
    """Says what lies in `saved` already; `folder` is where it will be found."""
    return Record(
        identity=made.identity,
        kind=kind_of(made.config["tuning"]),
        folder=folder,
        base=made.base,
        weightsSha256=weights_sha256(saved),
        tokenizerSha256=tokenizer_sha256(saved),
        vocabulary=policy.config.vocab_size,
        step=made.step,
        probe=take_probe(policy, tokenizer),
        config=made.config,
        outcome=outcome,
        versions={library: version(library) for library in _LIBRARIES},
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
            "vocabulary": record.vocabulary,
        },
        "replayed": replayed,
        **record.outcome,
    }
