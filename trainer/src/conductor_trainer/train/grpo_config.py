"""Translates a training run's settings to TRL's, and stops training at the end of a cycle."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from trl.trainer.grpo_config import GRPOConfig

from conductor_trainer.contract import Config
from conductor_trainer.errors import BadRequest
from conductor_trainer.low_bits import has_8_bit_moments
from conductor_trainer.train.tensors import rows_of


def grpo_config(config: Config, last_step: int, output: Path) -> GRPOConfig:
    """Returns TRL's settings. `last_step` ends this update; the schedule covers the whole run."""
    optimizer, loss, rows = config["optimizer"], config["loss"], rows_of(config)
    micro_batches = rows // (config["microBatch"] * config["processes"])
    total = max(optimizer["totalSteps"], last_step)
    return GRPOConfig(
        **shared_arguments(config, output),
        per_device_train_batch_size=config["microBatch"],
        gradient_accumulation_steps=micro_batches // config["minibatches"],
        steps_per_generation=micro_batches,
        # The batch names its own groups; TRL's bookkeeping treats it as one group.
        num_generations=rows,
        num_iterations=config["iterations"],
        max_completion_length=config["maxCompletionTokens"],
        temperature=config["temperature"],
        max_steps=total,
        learning_rate=optimizer["learningRate"],
        **_schedule_of(optimizer["schedule"], total),
        warmup_steps=optimizer["warmupSteps"],
        loss_type=loss["name"],
        importance_sampling_level=loss["ratio"],
        epsilon=loss["epsilon"],
        epsilon_high=loss["epsilonHigh"],
        disable_dropout=True,
        shuffle_dataset=False,
        ignore_data_skip=True,
    )


def shared_arguments(config: Config, output: Path) -> dict[str, Any]:
    """Returns the Transformers arguments that updates and warm starts share."""
    optimizer, is_cpu = config["optimizer"], config["device"] == "cpu"
    is_alone = config["processes"] == 1
    # Otherwise each process would hold all gradients, not its shard of them, until the step.
    reduced_at_once = {"gradient_accumulation_kwargs": {"sync_each_batch": True}}
    return {
        "output_dir": str(output),
        "seed": config["seed"],
        "use_cpu": is_cpu,
        "bf16": config["precision"] == "bfloat16",
        "activation_checkpointing": not is_cpu,
        # If set for a single process, accelerate would treat training as distributed.
        "ddp_backend": None if is_alone else "gloo" if is_cpu else "nccl",
        "accelerator_config": None if is_alone else reduced_at_once,
        # The library's own choice otherwise.
        **({"optim": "adamw_8bit"} if has_8_bit_moments(config) else {}),
        "adam_beta1": optimizer["beta1"],
        "adam_beta2": optimizer["beta2"],
        "adam_epsilon": optimizer["epsilon"],
        "weight_decay": optimizer["weightDecay"],
        "max_grad_norm": optimizer["maxGradNorm"],
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "save_strategy": "no",
        "report_to": [],
        "disable_tqdm": True,
    }


def _schedule_of(schedule: str, total: int) -> dict[str, Any]:
    """Returns the Transformers arguments of a schedule; `wsd` decays over its last third."""
    match schedule:
        case "constant":
            return {"lr_scheduler_type": "constant_with_warmup"}
        case "wsd":
            decay = {"num_decay_steps": round(total / 3), "decay_type": "linear"}
            return {"lr_scheduler_type": "warmup_stable_decay", "lr_scheduler_kwargs": decay}
        case _:
            return {"lr_scheduler_type": schedule}


def require_steps_left(config: Config, last_step: int) -> None:
    """Raises `BadRequest` if the schedule has ended: at learning rate 0 nothing is learned."""
    optimizer = config["optimizer"]
    if optimizer["schedule"] != "constant" and last_step > optimizer["totalSteps"]:
        raise BadRequest(
            f"This update ends at optimizer step {last_step}, but the {optimizer['schedule']} "
            f"schedule ends at {optimizer['totalSteps']}, where the learning rate is 0. Raise "
            "`training.totalCycles`, or set `training.trainer.optimizer.schedule` to constant."
        )


class StopAfter(TrainerCallback):
    """Stops training after an optimizer step, counted over the whole run; reports each step."""

    def __init__(self, step: int, report: Callable[[str], None]) -> None:
        self._step = step
        self._report = report

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        self._report(f"step {state.global_step} of {self._step}")
        if state.global_step >= self._step:
            control.should_training_stop = True
