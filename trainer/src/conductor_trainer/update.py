"""One cycle of learning: a checkpoint and a batch become the next checkpoint."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel
from trl import GRPOConfig

from conductor_trainer.batch import Expected, read_batch
from conductor_trainer.checkpoint import (
    TRAINER_FOLDER,
    Record,
    checkpoint_folder,
    identity_of,
    make_once,
    require_record,
)
from conductor_trainer.errors import BadRequest, NonFiniteLoss
from conductor_trainer.grpo_trainer import ExternalGRPOTrainer
from conductor_trainer.model import load_model, load_policy, load_tokenizer
from conductor_trainer.record import Made, describe, save_record
from conductor_trainer.requests import CheckpointName, Config, JsonObject, UpdateRequest
from conductor_trainer.tensors import rows_of, to_tensors

Report = Callable[[str], None]


def update(root: Path, request: UpdateRequest, batch: Path, report: Report) -> JsonObject:
    """Makes the checkpoint of a cycle, or finds it where the same request made it before."""
    target = CheckpointName(trainRun=request["trainRun"], name=f"{request['cycle']:06}")
    identity = identity_of("update", request)

    def build(temporary: Path) -> Record:
        started = time.perf_counter()
        config, parent = request["config"], require_record(root, request["parent"])
        state = state_folder(root, request)
        last_step = (parent.step if state else 0) + config["iterations"]
        require_steps_left(config, last_step)

        report("loading")
        policy_folder = root / parent.folder
        tokenizer = load_tokenizer(policy_folder)
        rollouts = read_batch(batch.read_bytes(), expected_of(request, parent, len(tokenizer)))
        policy = load_policy(root, parent, config)
        reference = load_reference(root, parent, config)
        trainer = ExternalGRPOTrainer(
            model=policy,
            args=grpo_config(config, last_step, temporary),
            processing_class=tokenizer,
            batch=to_tensors(rollouts, config, tokenizer.pad_token_id),
            beta=config["loss"]["beta"],
            reference=reference,
            stop_after=last_step,
            report=report,
        )
        trainer.train(resume_from_checkpoint=str(state) if state else None)
        metrics = metrics_of(trainer)

        report("saving")
        save_state(trainer, temporary / TRAINER_FOLDER)
        made = Made(root, temporary, target, identity, parent.base, config, last_step)
        outcome = {"metrics": {**metrics, "seconds": time.perf_counter() - started}}
        return save_record(made, policy, tokenizer, policy_folder, outcome)

    record, replayed = make_once(root, target, identity, build)
    return describe(root, target, record, replayed)


def state_folder(root: Path, request: UpdateRequest) -> Path | None:
    """Optimizer and schedule go on within a training run; one that begins with a checkpoint of another begins anew."""
    folder = checkpoint_folder(root, request["parent"]) / TRAINER_FOLDER
    is_same_run = request["parent"]["trainRun"] == request["trainRun"]
    return folder if is_same_run and folder.is_dir() else None


def require_steps_left(config: Config, last_step: int) -> None:
    optimizer = config["optimizer"]
    if optimizer["schedule"] != "constant" and last_step > optimizer["totalSteps"]:
        raise BadRequest(
            f"This update ends at optimizer step {last_step}, but the {optimizer['schedule']} schedule ends at "
            f"{optimizer['totalSteps']}, where the learning rate is 0. Plan more steps (`totalSteps`), or use the "
            "constant schedule."
        )


def expected_of(request: UpdateRequest, parent: Record, vocabulary: int) -> Expected:
    config = request["config"]
    return Expected(
        train_run=request["trainRun"],
        cycle=request["cycle"],
        policy=request["parent"]["name"],
        tokenizer_sha256=parent.tokenizerSha256,
        temperature=config["temperature"],
        vocabulary=vocabulary,
        most_rollouts=config["rollouts"],
        most_prompt_tokens=config["maxPromptTokens"],
        most_completion_tokens=config["maxCompletionTokens"],
    )


def load_reference(root: Path, parent: Record, config: Config) -> PreTrainedModel | None:
    """The base model, where the loss asks how far the policy is from it and no adapter can be switched off."""
    needs_one = config["loss"]["beta"] != 0 and config["tuning"]["kind"] == "full"
    return load_model(root / parent.base) if needs_one else None


def grpo_config(config: Config, last_step: int, output: Path) -> GRPOConfig:
    optimizer, loss, rows = config["optimizer"], config["loss"], rows_of(config)
    schedule = optimizer["schedule"]
    is_cpu = config["device"] == "cpu"
    return GRPOConfig(
        output_dir=str(output / TRAINER_FOLDER),
        seed=config["seed"],
        use_cpu=is_cpu,
        bf16=config["precision"] == "bfloat16",
        gradient_checkpointing=not is_cpu,
        per_device_train_batch_size=config["microBatch"],
        gradient_accumulation_steps=rows // config["microBatch"],
        num_generations=rows,
        num_iterations=config["iterations"],
        max_completion_length=config["maxCompletionTokens"],
        temperature=config["temperature"],
        max_steps=max(optimizer["totalSteps"], last_step),
        learning_rate=optimizer["learningRate"],
        lr_scheduler_type="constant_with_warmup" if schedule == "constant" else schedule,
        warmup_steps=optimizer["warmupSteps"],
        adam_beta1=optimizer["beta1"],
        adam_beta2=optimizer["beta2"],
        adam_epsilon=optimizer["epsilon"],
        weight_decay=optimizer["weightDecay"],
        max_grad_norm=optimizer["maxGradNorm"],
        loss_type=loss["name"],
        epsilon=loss["epsilon"],
        epsilon_high=loss["epsilonHigh"],
        beta=0.0,
        disable_dropout=True,
        shuffle_dataset=False,
        ignore_data_skip=True,
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
    )


def metrics_of(trainer: ExternalGRPOTrainer) -> JsonObject:
    """The contract's metrics: the loss and the gradient of all optimizer steps on average, the rest as its names say."""
    steps = [entry for entry in trainer.state.log_history if "grad_norm" in entry]
    first, every = trainer.first_pass, trainer.all_passes
    metrics: dict[str, Any] = {
        "loss": mean([entry["loss"] for entry in steps]),
        "gradNorm": mean([entry["grad_norm"] for entry in steps]),
        "learningRate": steps[-1]["learning_rate"],
        "ratio": first.mean(first.ratio),
        "clipShare": every.mean(every.clipped),
        "kl": every.mean(every.k3),
        "entropy": first.mean(first.entropy),
        "logprobGap": first.largest_gap,
        "tokens": int(first.tokens),
    }
    for name, value in metrics.items():
        if not math.isfinite(value):
            raise NonFiniteLoss(
                f"The update came to {name} {value}. Nothing was saved: lower the learning rate."
            )
    return metrics


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def save_state(trainer: ExternalGRPOTrainer, folder: Path) -> None:
    """What the next update goes on from, besides the weights."""
    folder.mkdir(exist_ok=True)
    trainer.state.log_history = []
    trainer._save_optimizer_and_scheduler(str(folder))
    trainer._save_rng_state(str(folder))
    trainer.state.save_to_json(str(folder / "trainer_state.json"))
