"""A training run in one process, from its warm start on, to compare with updates one by one."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel, get_peft_model_state_dict

from conductor_trainer.batch import expect, read_batch
from conductor_trainer.checkpoint import require_record
from conductor_trainer.contract import Config
from conductor_trainer.model import load_policy, load_tokenizer, pad_id_of
from conductor_trainer.train.grpo_config import grpo_config
from conductor_trainer.train.grpo_trainer import ExternalGRPOTrainer
from conductor_trainer.train.tensors import Tensors, to_tensors
from tiny_run import checkpoint, pack_batch, update_request


class Uninterrupted(ExternalGRPOTrainer):
    """One process that is fed one batch after another."""

    batches: Iterator[Tensors]

    def _generate_and_score_completions(self, inputs: Any) -> Tensors:
        self._batch = next(self.batches)
        return super()._generate_and_score_completions(inputs)


def tensors_of(
    root: Path, cycle: int, parent: str, config: Config, rows: list[dict[str, Any]]
) -> Tensors:
    record = require_record(root, checkpoint(parent))
    tokenizer = load_tokenizer(root / record.folder)
    request = update_request(cycle, parent, config)
    expected = expect(request, request["parent"], record)
    rollouts = read_batch(pack_batch(root, cycle, parent, config, rows), expected)
    return to_tensors(rollouts, config, pad_id_of(tokenizer))


def learn_uninterrupted(
    root: Path, config: Config, rows: list[dict[str, Any]], *, cycles: int
) -> dict[str, torch.Tensor]:
    """Returns the weights after so many cycles on one batch, named as in a checkpoint."""
    record, steps = require_record(root, checkpoint("warm")), cycles * config["iterations"]
    batch = tensors_of(root, 1, "warm", config, rows)
    trainer = Uninterrupted(
        model=load_policy(root, record, config, to_learn=True),
        args=grpo_config(config, steps, root / "uninterrupted"),
        processing_class=load_tokenizer(root / record.folder),
        batch=batch,
        config=config,
        reference=nullcontext,  # pyright: ignore[reportArgumentType]
        stop_after=steps,
        report=lambda _: None,
    )
    trainer.batches = iter([batch] * cycles)
    trainer.train()
    whole: Any = trainer.accelerator.unwrap_model(trainer.model)
    return get_peft_model_state_dict(whole) if isinstance(whole, PeftModel) else whole.state_dict()
