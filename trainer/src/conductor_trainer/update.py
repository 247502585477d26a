"""One cycle of learning: a checkpoint and a batch become the next checkpoint."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from conductor_trainer.batch import Expected, expect, read_batch
from conductor_trainer.checkpoint import (
    TRAINER_FOLDER,
    Record,
    checkpoint_folder,
    describe,
    identity_of,
    make_checkpoint,
    require_record,
)
from conductor_trainer.contract import CheckpointName, JsonObject
from conductor_trainer.errors import NonFiniteLoss
from conductor_trainer.grpo_config import grpo_config, require_steps_left, steps_of
from conductor_trainer.grpo_trainer import ExternalGRPOTrainer
from conductor_trainer.model import Policy, load_policy, load_tokenizer, pad_id_of
from conductor_trainer.optimizer_state import save_state
from conductor_trainer.ranks import learn_together
from conductor_trainer.record import Made, join_ranks, load_together, save_made
from conductor_trainer.tensors import share_of_rank, to_tensors
from conductor_trainer.token_sums import TokenSums, add_up
from conductor_trainer.worker.steps import Report


def update(root: Path, request: JsonObject, batch: Path, report: Report) -> JsonObject:
    target = CheckpointName(trainRun=request["trainRun"], name=f"{request['cycle']:06}")

    def build(temporary: Path) -> Record:
        started = time.perf_counter()
        config, parent = request["config"], require_record(root, request["parent"])
        # Another run's checkpoint is the beginning of this one's steps.
        is_same_run = request["parent"]["trainRun"] == request["trainRun"]
        made = Made(
            root,
            temporary,
            target,
            identity_of("update", request),
            parent.base,
            config,
            (parent.step if is_same_run else 0) + steps_of(config),
            request["parent"],
            parent.first or request["parent"],
        )

        def outcome_of(told: Sequence[JsonObject]) -> JsonObject:
            return {"metrics": {**metrics_of(told), "seconds": time.perf_counter() - started}}

        return learn_together(learn, made, request, batch, outcome_of, report)

    return describe(target, make_checkpoint(root, target, build), replayed=False)


def learn(
    made: Made, request: JsonObject, batch: Path, report: Report
) -> tuple[Policy, JsonObject]:
    """Saves what the next update goes on from; returns the policy, and what one process tells."""
    root, config = made.root, made.config
    parent = require_record(root, request["parent"])
    last_step = made.step
    require_steps_left(config, last_step)
    first = parent.first or request["parent"]
    state = checkpoint_folder(root, request["parent"]) / TRAINER_FOLDER

    report("loading")
    tokenizer = load_tokenizer(root / parent.folder)
    rollouts = read_batch(batch.read_bytes(), expected_of(request, parent))
    join_ranks(config)
    policy = load_together(root, parent, config)
    tensors = to_tensors(rollouts, config, pad_id_of(tokenizer))
    trainer = ExternalGRPOTrainer(
        model=policy,
        args=grpo_config(config, last_step, made.temporary),
        processing_class=tokenizer,
        batch=share_of_rank(tensors),
        loss=config["loss"],
        minibatches=config["minibatches"],
        load_reference=lambda: load_policy(root, require_record(root, first), config),
        stop_after=last_step,
        report=report,
    )
    goes_on = state.is_dir() and request["parent"]["trainRun"] == request["trainRun"]
    trainer.train(resume_from_checkpoint=str(state) if goes_on else None)
    report("saving")
    steps = [entry for entry in trainer.state.log_history if "grad_norm" in entry]
    save_state(trainer, made.temporary / TRAINER_FOLDER)
    save_made(made, policy, root / parent.folder)
    sums = {"first": asdict(trainer.first_pass), "every": asdict(trainer.all_passes)}
    return policy, {"steps": steps, "advantage": tensors["advantages"].abs().max().item(), **sums}


def expected_of(request: JsonObject, parent: Record) -> Expected:
    """What the batch must agree with: the request, and the checkpoint whose plans it holds."""
    run, cycle = request["trainRun"], request["cycle"]
    return expect(run, cycle, request["parent"], parent, request["config"])


def metrics_of(told: Sequence[Mapping[str, Any]]) -> JsonObject:
    """The means over all optimizer steps, the sampler's over the first pass alone."""
    steps = told[0]["steps"]
    first = add_up([TokenSums(**each["first"]) for each in told])
    every = add_up([TokenSums(**each["every"]) for each in told])
    metrics = {
        "loss": fmean([entry["loss"] for entry in steps]),
        "gradNorm": fmean([entry["grad_norm"] for entry in steps]),
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
        "largestAdvantage": told[0]["advantage"],
        "tokens": int(first.tokens),
    }
    for name, value in metrics.items():
        if not math.isfinite(value):
            raise NonFiniteLoss(
                f"The update came to {name} {value}. Nothing was saved: lower the learning rate."
            )
    return metrics
