"""The record of a new checkpoint: its probe, the fingerprint of its weights, and the answer."""

import hashlib
import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import torch
from transformers import PreTrainedTokenizerBase

from conductor_trainer.checkpoint import Probe, Record
from conductor_trainer.contract import CheckpointName, Config, JsonObject
from conductor_trainer.model import Policy, kind_of, save_policy, tokenizer_sha256

_LIBRARIES = ("torch", "transformers", "trl", "peft")

_PROBE_TEXT = (
    "<|im_start|>user\nHow much is 17 and 26?<|im_end|>\n<|im_start|>assistant\n"
    'model_id = [0]\nsubtasks = ["Solve the question."]\naccess_list = [[]]<|im_end|>'
)

_CHUNK_BYTES = 1 << 22


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
    """Optimizer steps of its training run so far."""


def save_record(
    made: Made,
    policy: Policy,
    tokenizer: PreTrainedTokenizerBase,
    tokenizer_from: Path,
    outcome: JsonObject,
) -> Record:
    """Saves what a policy server loads, and returns its record."""
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


class _Tensor(NamedTuple):
    """A tensor's name and type, and where its bytes lie."""

    name: str
    dtype: str
    file: Path
    start: int
    end: int


def weights_sha256(folder: Path) -> str:
    """SHA-256 over names, types and bytes of all tensors in ascending order of names.

    The number of files does not matter, and nothing is loaded into memory.
    """
    digest = hashlib.sha256()
    for tensor in sorted(_tensors(folder)):
        digest.update(f"{tensor.name}\0{tensor.dtype}\0".encode())
        with tensor.file.open("rb") as file:
            file.seek(tensor.start)
            remaining = tensor.end - tensor.start
            while remaining > 0 and (chunk := file.read(min(_CHUNK_BYTES, remaining))):
                digest.update(chunk)
                remaining -= len(chunk)
    return digest.hexdigest()


def _tensors(folder: Path) -> list[_Tensor]:
    """From the headers: a safetensors file is 8 bytes of length, JSON of that length, and data.

    Source: the format's description at https://github.com/huggingface/safetensors#format.
    """
    tensors: list[_Tensor] = []
    for path in folder.glob("*.safetensors"):
        with path.open("rb") as file:
            header_bytes = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(header_bytes))
        header.pop("__metadata__", None)
        data = 8 + header_bytes
        for name, entry in header.items():
            start, end = entry["data_offsets"]
            tensors.append(_Tensor(name, entry["dtype"], path, data + start, data + end))
    return tensors
