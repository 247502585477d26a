"""What an update does with policy, optimizer and batch, in one process or in several together."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from conductor_trainer.batch import Expected, read_batch
from conductor_trainer.checkpoint import (
    TRAINER_FOLDER,
    Record,
    checkpoint_folder,
    id_of,
    require_record,
)
from conductor_trainer.contract import JsonObject, UpdateRequest
from conductor_trainer.errors import NonFiniteLoss
from conductor_trainer.grpo_config import grpo_config, require_steps_left
from conductor_trainer.grpo_trainer import ExternalGRPOTrainer
from conductor_trainer.model import Policy, load_policy, load_tokenizer, pad_id_of
from conductor_trainer.optimizer_state import save_state
from conductor_trainer.record import Made
from conductor_trainer.sharding import join_ranks, load_together, save_together
from conductor_trainer.tensors import share_of_rank, to_tensors
from conductor_trainer.token_sums import TokenSums, add_up

Report = Callable[[str], None]


def learn(
    made: Made, request: UpdateRequest, batch: Path, report: Report
) -> tuple[Policy, JsonObject]:
    """Learns from a batch, and saves what the next update continues from below `temporary`.

    Returns the policy, and what one process has to tell.
    """
    root, config = made.root, made.config
    parent = require_record(root, request["parent"])
    last_step = made.step
    require_steps_left(config, last_step)
    first = parent.first or request["parent"]
    state = checkpoint_folder(root, request["parent"]) / TRAINER_FOLDER

    report("loading")
    tokenizer = load_tokenizer(root / parent.folder)
    rollouts = read_batch(batch.read_bytes(), expected_of(request, parent))
    rank = join_ranks(config)
    policy = load_together(root, parent, config, rank)
    trainer = ExternalGRPOTrainer(
        model=policy,
        args=grpo_config(config, last_step, made.temporary),
        processing_class=tokenizer,
        batch=share_of_rank(to_tensors(rollouts, config, pad_id_of(tokenizer)), rank),
        loss=config["loss"],
        load_reference=lambda: load_policy(root, require_record(root, first), config),
        stop_after=last_step,
        report=report,
    )
    goes_on = state.is_dir() and request["parent"]["trainRun"] == request["trainRun"]
    trainer.train(resume_from_checkpoint=str(state) if goes_on else None)
    report("saving")
    steps = [entry for entry in trainer.state.log_history if "grad_norm" in entry]
    save_state(trainer, made.temporary / TRAINER_FOLDER)
    save_together(made, policy, root / parent.folder, rank)
    told = {
        "steps": steps,
        "first": asdict(trainer.first_step),
        "every": asdict(trainer.all_steps),
    }
    return policy, told


def last_step_of(request: UpdateRequest, parent: Record) -> int:
    """Where this update ends; another run's checkpoint is the beginning of this one's steps."""
    is_same_run = request["parent"]["trainRun"] == request["trainRun"]
    return (parent.step if is_same_run else 0) + request["config"]["iterations"]


def expected_of(request: UpdateRequest, parent: Record) -> Expected:
    """What the batch must agree with: the request, and the checkpoint whose plans it holds."""
    config = request["config"]
    return Expected(
        train_run=request["trainRun"],
        cycle=request["cycle"],
        policy=request["parent"]["name"],
        # One cycle behind at most.
        writers=[id_of(each) for each in (request["parent"], parent.parent) if each is not None],
        tokenizer_sha256=parent.tokenizerSha256,
        temperature=config["temperature"],
        vocabulary=parent.vocabulary,
        most_rollouts=config["rollouts"],
        most_prompt_tokens=config["maxPromptTokens"],
        most_completion_tokens=config["maxCompletionTokens"],
    )


def metrics_of(told: Sequence[Mapping[str, Any]]) -> JsonObject:
    """Loss, gradient and how the policy moved over all optimizer steps, the rest at the first.

    Loss and gradient are of all processes in what each of them tells.
    """
    steps = told[0]["steps"]
    first = add_up([TokenSums(**each["first"]) for each in told])
    every = add_up([TokenSums(**each["every"]) for each in told])
    metrics = {
        "loss": _mean([entry["loss"] for entry in steps]),
        "gradNorm": _mean([entry["grad_norm"] for entry in steps]),
        "learningRate": steps[-1]["learning_rate"],
        "ratio": first.mean(first.ratio),
        "samplerGap": first.mean(first.sampler_gap),
        "logprobGap": first.largest_gap,
        "weight": first.mean(first.weight),
        "weightLimited": first.mean(first.limited),
        "policyGap": every.mean(every.policy_gap),
        "clipShare": every.mean(every.clipped),
        "kl": every.mean(every.k3),
        "entropy": first.mean(first.entropy),
        "tokens": int(first.tokens),
    }
    for name, value in metrics.items():
        if not math.isfinite(value):
            raise NonFiniteLoss(
                f"The update came to {name} {value}. Nothing was saved: lower the learning rate."
            )
    return metrics


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
