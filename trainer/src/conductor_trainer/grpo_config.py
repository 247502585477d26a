"""A training run's settings in TRL's words."""

from pathlib import Path

from trl.trainer.grpo_config import GRPOConfig

from conductor_trainer.errors import BadRequest
from conductor_trainer.requests import Config
from conductor_trainer.tensors import rows_of


def grpo_config(config: Config, last_step: int, output: Path) -> GRPOConfig:
    """`last_step` is where this update ends; the schedule is that of the whole run."""
    optimizer, loss, rows = config["optimizer"], config["loss"], rows_of(config)
    schedule = optimizer["schedule"]
    is_cpu = config["device"] == "cpu"
    return GRPOConfig(
        output_dir=str(output),
        seed=config["seed"],
        use_cpu=is_cpu,
        bf16=config["precision"] == "bfloat16",
        activation_checkpointing=not is_cpu,
        per_device_train_batch_size=config["microBatch"],
        gradient_accumulation_steps=rows // config["microBatch"],
        # Groups are told by the batch; for TRL's bookkeeping it is one.
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
        disable_dropout=True,
        shuffle_dataset=False,
        ignore_data_skip=True,
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
    )


def require_steps_left(config: Config, last_step: int) -> None:
    """Raises `BadRequest` where a schedule is over: its learning rate is 0, and nothing learned."""
    optimizer = config["optimizer"]
    if optimizer["schedule"] != "constant" and last_step > optimizer["totalSteps"]:
        raise BadRequest(
            f"This update ends at optimizer step {last_step}, but the {optimizer['schedule']} "
            f"schedule ends at {optimizer['totalSteps']}, where the learning rate is 0. Plan more "
            "steps (`totalSteps`), or use the constant schedule."
        )
