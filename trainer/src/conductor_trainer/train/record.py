"""Makes a checkpoint and its record, in one process or in several together.

Several processes each hold a share of the model and, with LoRA, a copy of the adapter.
"""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Literal, TypeAlias

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from transformers import PreTrainedTokenizerBase

from conductor_trainer.chat import close, encode, prompts_of
from conductor_trainer.checkpoint import Chat, Probe, Record, describe, identity_of, make_checkpoint
from conductor_trainer.contract import CheckpointName, Config, JsonObject
from conductor_trainer.errors import ModelInvalid
from conductor_trainer.model import Policy, logprobs_of, save_policy
from conductor_trainer.step.messages import Report
from conductor_trainer.weights import weights_sha256

_LIBRARIES = ("torch", "transformers", "trl", "peft")

_PROBED_PROMPT = [{"role": "user", "content": "How much is 17 and 26?"}]
_PROBED_REPLY = 'model_id = [0]\nsubtasks = ["Solve the question."]\naccess_list = [[]]'

_PATIENCE = timedelta(minutes=10)
"""Timeout after which a process of a step considers another one lost."""


def join_ranks(config: Config) -> None:
    """Waits until all processes of this step have joined, if there are several."""
    if config["processes"] == 1:
        return
    if config["device"] == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    backend = "gloo" if config["device"] == "cpu" else "cpu:gloo,cuda:nccl"
    dist.init_process_group(backend, timeout=_PATIENCE)


@dataclass(frozen=True)
class Made:
    root: Path
    temporary: Path
    """Folder of the checkpoint until it is renamed into place."""
    job: str
    name: str
    request: JsonObject
    base: str
    step: int = 0
    parent: CheckpointName | None = None
    """Checkpoint that it continued from; None for `init` and for a warm start from the base."""
    first: CheckpointName | None = None
    """Checkpoint from which training by reward began."""

    @property
    def config(self) -> Config:
        return self.request["config"]

    @property
    def kind(self) -> Literal["model", "adapter"]:
        return "adapter" if self.config["tuning"]["kind"] == "lora" else "model"

    @property
    def folder(self) -> str:
        return f"{self.request['trainRun']}/{self.name}/{self.kind}"

    @property
    def saved(self) -> Path:
        return self.temporary / self.kind


Learn: TypeAlias = Callable[[Made, Path, Report], tuple[Policy, JsonObject]]
"""Trains in one process on a file: saves the policy, and returns it with its results.

Named in messages to other processes, so it must be at module level.
"""

OutcomeOf: TypeAlias = Callable[[Sequence[JsonObject], float], JsonObject]
"""Combines the results of all processes and the seconds taken."""

LearnTogether: TypeAlias = Callable[[Learn, Made, OutcomeOf], Record]
"""Trains in all processes of a step, on the file that it was given."""


def make(root: Path, request: JsonObject, name: str, build: Callable[[Path], Record]) -> JsonObject:
    """Builds the checkpoint that a request asks for, and returns its description."""
    target = CheckpointName(trainRun=request["trainRun"], name=name)
    return describe(target, make_checkpoint(root, target, build), replayed=False)


def save_made(made: Made, policy: Policy, tokenizer_from: Path) -> None:
    """Saves the policy from the first process; the others hand it their shards, and may then end.

    They must not wait while it writes, which may take longer than `_PATIENCE` on a slow disk.
    """
    shards = {}
    if dist.is_initialized() and made.kind == "model":
        whole = StateDictOptions(full_state_dict=True, cpu_offload=True)
        shards = {"state_dict": get_model_state_dict(policy, options=whole)}
        # Otherwise the library gathers them again, and has all processes wait.
        policy.config.distributed_config = None
    if dist.is_initialized() and dist.get_rank() > 0:
        return
    # Relative to the checkpoint's folder, so that it is valid on every machine.
    base = os.path.relpath(made.base, made.folder)
    save_policy(policy, base, tokenizer_from, made.saved, **shards)


def record_of(
    made: Made,
    policy: Policy,
    chat: Chat,
    probed: Sequence[int],
    outcome: JsonObject,
) -> Record:
    """Describes a checkpoint; `probed` are the tokens of its probe, those of its parent if any."""
    return Record(
        identity=identity_of(made.job, made.request),
        kind=made.kind,
        folder=made.folder,
        base=made.base,
        weightsSha256=weights_sha256(made.saved),
        tokenizerSha256=sha256((made.saved / "tokenizer.json").read_bytes()).hexdigest(),
        vocabulary=policy.config.vocab_size,
        step=made.step,
        probe=take_probe(policy, probed),
        config=made.config,
        parent=made.parent,
        first=made.first,
        outcome=outcome,
        versions={library: version(library) for library in _LIBRARIES},
        chat=chat,
    )


def probed_tokens(tokenizer: PreTrainedTokenizerBase, chat: Chat) -> list[int]:
    """Returns the tokens of a fixed plan, after its prompt."""
    (prompt,), (reply,) = (
        prompts_of(tokenizer, chat, [_PROBED_PROMPT]),
        encode(tokenizer, [_PROBED_REPLY]),
    )
    return prompt + close(chat, reply)


def take_probe(policy: Policy, probed: Sequence[int]) -> Probe:
    """Returns log-probabilities of tokens, which a server of the checkpoint must match.

    Raises `ModelInvalid` if one is no finite number, which JSON does not have.
    """
    policy.eval()
    logprobs = logprobs_of(policy, probed)
    if not all(map(math.isfinite, logprobs)):
        raise ModelInvalid(
            f"The model gives a log-probability of {min(logprobs)}, so its weights are broken. "
            "Nothing was saved: get a sound copy of the base model or, if these weights were "
            "learned here, lower the learning rate."
        )
    return Probe([*probed], logprobs)
