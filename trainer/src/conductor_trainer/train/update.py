"""One cycle of training: makes the next checkpoint from a checkpoint and a batch."""

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from conductor_trainer.batch import expect, read_batch
from conductor_trainer.checkpoint import TRAINER_FOLDER, Record, checkpoint_folder, require_record
from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import NonFiniteLoss
from conductor_trainer.model import Policy, load_policy, load_tokenizer, pad_id_of, reference_for
from conductor_trainer.step.messages import Report
from conductor_trainer.train.grpo_config import grpo_config, require_steps_left
from conductor_trainer.train.grpo_trainer import ExternalGRPOTrainer
from conductor_trainer.train.record import LearnTogether, Made, join_ranks, make, save_made
from conductor_trainer.train.tensors import Sums, add_up, share_of_rank, to_tensors


def update(root: Path, request: JsonObject, learn_together: LearnTogether) -> JsonObject:
    name, before = f"{request['cycle']:06}", request["parent"]

    def build(temporary: Path) -> Record:
        parent, config = require_record(root, before), request["config"]
        step = config["iterations"] * config["minibatches"]
        # Steps of another run do not count.
        if before["trainRun"] == request["trainRun"]:
            step += parent.step
        first = parent.first or before
        made = Made(root, temporary, "update", name, request, parent.base, step, before, first)
        return learn_together(learn, made, outcome_of)

    return make(root, request, name, build)


def learn(made: Made, batch: Path, report: Report) -> tuple[Policy, JsonObject]:
    """Trains and saves the next update's input; returns the policy and this process's results."""
    root, request, config = made.root, made.request, made.config
    require_steps_left(config, made.step)
    before = request["parent"]
    parent = require_record(root, before)
    state = checkpoint_folder(root, before) / TRAINER_FOLDER

    report("loading")
    tokenizer = load_tokenizer(root / parent.folder)
    rollouts = read_batch(batch.read_bytes(), expect(request, before, parent))
    join_ranks(config)
    policy = load_policy(root, parent, config, to_learn=True)
    tensors = to_tensors(rollouts, config, pad_id_of(tokenizer))
    trainer = ExternalGRPOTrainer(
        model=policy,
        args=grpo_config(config, made.step, made.temporary),
        processing_class=tokenizer,
        batch=share_of_rank(tensors),
        config=config,
        reference=lambda: reference_for(
            policy, root, require_record(root, parent.first or before), config
        ),
        stop_after=made.step,
        report=report,
    )
    goes_on = state.is_dir() and before["trainRun"] == request["trainRun"]
    trainer.train(resume_from_checkpoint=str(state) if goes_on else None)
    report("saving")
    steps = [entry for entry in trainer.state.log_history if "grad_norm" in entry]
    trainer.save_progress(made.temporary / TRAINER_FOLDER)
    save_made(made, policy, root / parent.folder)
    told = {
        "steps": steps,
        "advantage": tensors["advantages"].abs().max().item(),
        "first": add_up(trainer.sums[: trainer.micro_batches]),
        "every": add_up(trainer.sums),
    }
    return policy, told


def outcome_of(told: Sequence[JsonObject], seconds: float) -> JsonObject:
    """Combines the results of all processes; `first` sums the first pass, `every` all passes."""
    steps = told[0]["steps"]
    first, every = (add_up([each[name] for each in told]) for name in ("first", "every"))

    def mean(name: str, sums: Sums = first) -> float:
        return sums[name] / max(sums["tokens"], 1)

    metrics = {
        "loss": fmean(entry["loss"] for entry in steps),
        "gradNorm": fmean(entry["grad_norm"] for entry in steps),
        "learningRate": steps[-1]["learning_rate"],
        "ratio": mean("ratio"),
        "samplerGap": mean("sampler_gap"),
        "logprobGap": first["largest_gap"],
        "weight": mean("weight"),
        "weightLimited": mean("limited"),
        "policyGap": mean("policy_gap", every),
        "clipShare": mean("clipped", every),
        "kl": mean("k3", every),
        "entropy": mean("entropy"),
        "largestAdvantage": told[0]["advantage"],
        "tokens": int(first["tokens"]),
        "seconds": seconds,
    }
    for name, value in metrics.items():
        if not math.isfinite(value):
            raise NonFiniteLoss(
                f"The update's {name} is {value}. Nothing was saved: lower the learning rate."
            )
    return {"metrics": metrics}
