"""Several processes that hold a policy together: whole weights in shards, adapters in copies."""

import os
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import torch
import torch.distributed as dist
from transformers import AutoModelForCausalLM
from transformers.distributed.configuration_utils import DistributedConfig

from conductor_trainer.checkpoint import Record
from conductor_trainer.contract import Config
from conductor_trainer.model import Policy, load_policy
from conductor_trainer.record import Made, save_made
from conductor_trainer.weights import SAFELY, require_safetensors

_PATIENCE = timedelta(minutes=10)
"""How long a process waits for another one within a step, before it counts as lost."""


class Rank(NamedTuple):
    """Which of the processes this one is, counted from 0, and how many there are."""

    number: int
    processes: int


def join_ranks(config: Config) -> Rank | None:
    """Waits for the other processes of this step; None where there are none."""
    if config["processes"] == 1:
        return None
    rank = Rank(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    if config["device"] == "cuda":
        torch.cuda.set_device(rank.number)
    backend = "gloo" if config["device"] == "cpu" else "cpu:gloo,cuda:nccl"
    if not dist.is_initialized():
        dist.init_process_group(backend, timeout=_PATIENCE)
    return rank


def load_together(root: Path, record: Record, config: Config, rank: Rank | None) -> Policy:
    """Each of several processes reads and holds its part of the weights alone (FSDP2).

    An adapter is small: each process holds all of it, and of the model below it.
    """
    if rank is None or config["tuning"]["kind"] == "lora":
        return load_policy(root, record, config)
    require_safetensors(root / record.folder)
    sharded = DistributedConfig(
        fsdp_size=config["processes"],
        fsdp_cpu_offload=config["offload"],
        fsdp_mixed_precision=config["precision"] == "bfloat16",
    )
    return AutoModelForCausalLM.from_pretrained(
        root / record.folder,
        dtype=torch.float32,
        use_safetensors=True,
        distributed_config=sharded,
        **SAFELY,
    )


def save_together(made: Made, policy: Policy, tokenizer_from: Path, rank: Rank | None) -> None:
    """Saves what several processes hold; one alone saves its policy with the record.

    Shards are saved by all of them, copies by the first.
    """
    is_shared = made.config["tuning"]["kind"] == "full"
    if rank is not None and (rank.number == 0 or is_shared):
        save_made(made, policy, tokenizer_from)
