"""One cycle of learning: a checkpoint and a batch become the next checkpoint."""

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from conductor_trainer.batch import Expected, read_batch
from conductor_trainer.checkpoint import (
    TRAINER_FOLDER,
    Record,
    checkpoint_folder,
    describe,
    identity_of,
    require_record,
)
from conductor_trainer.contract import CheckpointName, JsonObject, UpdateRequest
from conductor_trainer.errors import NonFiniteLoss
from conductor_trainer.grpo_config import grpo_config, require_steps_left
from conductor_trainer.grpo_trainer import ExternalGRPOTrainer
from conductor_trainer.make_once import make_once
from conductor_trainer.model import load_policy, load_tokenizer, pad_id_of
from conductor_trainer.record import Made, save_record
from conductor_trainer.tensors import to_tensors


def update(
    root: Path, request: UpdateRequest, batch: Path, report: Callable[[str], None]
) -> JsonObject:
    """Makes the checkpoint of a cycle, or finds it where the same request made it before."""
    target = CheckpointName(trainRun=request["trainRun"], name=f"{request['cycle']:06}")
    identity = identity_of("update", request)

    def build(temporary: Path) -> Record:
        started = time.perf_counter()
        config, parent = request["config"], require_record(root, request["parent"])
        state = _state_folder(root, request)
        last_step = (parent.step if state else 0) + config["iterations"]
        require_steps_left(config, last_step)
        first = parent.first or request["parent"]

        report("loading")
        parent_folder = root / parent.folder
        tokenizer = load_tokenizer(parent_folder)
        rollouts = read_batch(batch.read_bytes(), expected_of(request, parent))
        policy = load_policy(root, parent, config)
        trainer = ExternalGRPOTrainer(
            model=policy,
            args=grpo_config(config, last_step, temporary),
            processing_class=tokenizer,
            batch=to_tensors(rollouts, config, pad_id_of(tokenizer)),
            loss=config["loss"],
            load_reference=lambda: load_policy(root, require_record(root, first), config),
            stop_after=last_step,
            report=report,
        )
        trainer.train(resume_from_checkpoint=str(state) if state else None)
        metrics = _metrics_of(trainer)

        report("saving")
        _save_state(trainer, temporary / TRAINER_FOLDER)
        made = Made(
            root,
            temporary,
            target,
            identity,
            parent.base,
            config,
            last_step,
            request["parent"],
            first,
        )
        outcome = {"metrics": {**metrics, "seconds": time.perf_counter() - started}}
        return save_record(made, policy, tokenizer, parent_folder, outcome)

    record, replayed = make_once(root, target, identity, build)
    return describe(target, record, replayed)


def _state_folder(root: Path, request: UpdateRequest) -> Path | None:
    """Optimizer and schedule continue within a run; from another run's checkpoint they are new."""
    folder = checkpoint_folder(root, request["parent"]) / TRAINER_FOLDER
    is_same_run = request["parent"]["trainRun"] == request["trainRun"]
    return folder if is_same_run and folder.is_dir() else None


def expected_of(request: UpdateRequest, parent: Record) -> Expected:
    """What the batch must agree with: the request, and the checkpoint whose plans it holds."""
    config = request["config"]
    return Expected(
        train_run=request["trainRun"],
        cycle=request["cycle"],
        policy=request["parent"]["name"],
        tokenizer_sha256=parent.tokenizerSha256,
        temperature=config["temperature"],
        vocabulary=parent.vocabulary,
        most_rollouts=config["rollouts"],
        most_prompt_tokens=config["maxPromptTokens"],
        most_completion_tokens=config["maxCompletionTokens"],
    )


def _metrics_of(trainer: ExternalGRPOTrainer) -> JsonObject:
    """Loss, gradient and how the policy moved over all optimizer steps, the rest at the first."""
    steps = [entry for entry in trainer.state.log_history if "grad_norm" in entry]
    first, every = trainer.first_step, trainer.all_steps
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


def _save_state(trainer: ExternalGRPOTrainer, folder: Path) -> None:
    """What the next update continues from, besides the weights."""
    folder.mkdir()
    trainer.state.log_history = []
    trainer._save_optimizer_and_scheduler(str(folder))
    trainer._save_rng_state(str(folder))
    trainer.state.save_to_json(str(folder / "trainer_state.json"))
