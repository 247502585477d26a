"""The record of a new checkpoint: its probe, the fingerprint of its weights, and the answer."""

import os
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerBase

from conductor_trainer.checkpoint import Probe, Record
from conductor_trainer.contract import CheckpointName, Config, JsonObject
from conductor_trainer.model import Policy, kind_of, save_policy, tokenizer_sha256
from conductor_trainer.weights import weights_sha256

_LIBRARIES = ("torch", "transformers", "trl", "peft")

_PROBE_TEXT = (
    "<|im_start|>user\nHow much is 17 and 26?<|im_end|>\n<|im_start|>assistant\n"
    'model_id = [0]\nsubtasks = ["Solve the question."]\naccess_list = [[]]<|im_end|>'
)


@dataclass(frozen=True)
class Made:
    """A checkpoint in the making."""

    root: Path
    temporary: Path
    """Where it lies until it is renamed into place."""
    target: CheckpointName
    identity: str
    base: str
    """The whole model that training began with, below the root."""
    config: Config
    step: int
    """Optimizer steps of its training run so far."""
    parent: CheckpointName | None = None
    """What an update went on from."""
    first: CheckpointName | None = None
    """What the training run began to learn from by reward."""


def save_record(
    made: Made,
    policy: Policy,
    tokenizer: PreTrainedTokenizerBase,
    tokenizer_from: Path,
    outcome: JsonObject,
) -> Record:
    """Saves what a policy server loads, and returns its record."""
    saved = save_made(made, policy, tokenizer_from)
    return record_of(made, policy, tokenizer, saved, folder_of(made.target, made.config), outcome)


def save_made(made: Made, policy: Policy, tokenizer_from: Path) -> Path:
    """Saves weights and tokenizer, and returns where they lie for now."""
    saved = made.temporary / kind_of(made.config["tuning"])
    base = _reference_between(folder_of(made.target, made.config), made.base)
    save_policy(policy, base, tokenizer_from, saved)
    return saved


def folder_of(target: CheckpointName, config: Config) -> str:
    """Where a checkpoint's weights will be found."""
    return f"{target['trainRun']}/{target['name']}/{kind_of(config['tuning'])}"


def _reference_between(folder: str, base: str) -> str:
    """What an adapter is said to adapt, as seen from its folder on whichever machine."""
    return os.path.relpath(base, folder)


def record_of(
    made: Made,
    policy: Policy,
    tokenizer: PreTrainedTokenizerBase,
    saved: Path,
    folder: str,
    outcome: JsonObject,
) -> Record:
    """The record of what is in `saved` already; `folder` is where it will be found."""
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
        parent=made.parent,
        first=made.first,
        outcome=outcome,
        versions={library: version(library) for library in _LIBRARIES},
    )


@torch.no_grad()
def take_probe(policy: Policy, tokenizer: PreTrainedTokenizerBase) -> Probe:
    """The checkpoint's log-probabilities of a fixed plan, by which a server proves its weights."""
    policy.eval()
    token_ids_T = tokenizer.encode(_PROBE_TEXT, add_special_tokens=False)
    input_ids_1T = torch.tensor([token_ids_T], device=policy.device)
    logits_TV = policy(input_ids=input_ids_1T).logits[0, :-1].float()
    logprobs_TV = torch.log_softmax(logits_TV, dim=-1)
    logprobs_T = logprobs_TV.gather(1, input_ids_1T[0, 1:, None])[:, 0]
    return Probe(token_ids_T, logprobs_T.tolist())
