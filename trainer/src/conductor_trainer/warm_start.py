"""Supervised learning before any reward: without it no plan of a small policy can be read."""

import math
import time
from collections.abc import Callable, Sequence
from math import gcd
from pathlib import Path

from datasets import Dataset
from transformers import (
    PreTrainedTokenizerBase,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)

from conductor_trainer.checkpoint import Record, identity_of, require_record
from conductor_trainer.errors import NonFiniteLoss
from conductor_trainer.examples import Example, pad_examples, read_examples
from conductor_trainer.make_once import make_once
from conductor_trainer.model import Policy, load_policy, load_tokenizer, pad_id_of
from conductor_trainer.record import Made, describe, save_record
from conductor_trainer.requests import CheckpointName, JsonObject, WarmStartRequest
from conductor_trainer.stop_after import StopAfter


def warm_start(
    root: Path, request: WarmStartRequest, examples: Path, report: Callable[[str], None]
) -> JsonObject:
    """Makes a checkpoint from prompts and the replies that they should have got."""
    target = CheckpointName(trainRun=request["trainRun"], name=request["name"])
    identity = identity_of("warmStart", request)

    def build(temporary: Path) -> Record:
        started = time.perf_counter()
        report("loading")
        parent = require_record(root, request["parent"])
        parent_folder = root / parent.folder
        tokenizer = load_tokenizer(parent_folder)
        policy = load_policy(root, parent, request["config"])
        learned = read_examples(examples, tokenizer)
        loss = _learn(policy, tokenizer, learned, _arguments_of(request, temporary), report)
        report("saving")
        made = Made(root, temporary, target, identity, parent.base, request["config"], step=0)
        outcome = {"loss": loss, "seconds": time.perf_counter() - started}
        return save_record(made, policy, tokenizer, parent_folder, outcome)

    record, replayed = make_once(root, target, identity, build)
    return describe(root, target, record, replayed)


def _learn(
    policy: Policy,
    tokenizer: PreTrainedTokenizerBase,
    examples: Sequence[Example],
    arguments: TrainingArguments,
    report: Callable[[str], None],
) -> float:
    """Returns the mean loss of the last tenth of the steps, in nats a token."""

    pad_id = pad_id_of(tokenizer)
    trainer = Trainer(
        model=policy,
        args=arguments,
        train_dataset=Dataset.from_list([*examples]),
        data_collator=lambda batch: pad_examples(batch, pad_id),
        callbacks=[StopAfter(arguments.max_steps, report)],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    last = losses[-math.ceil(len(losses) / 10) :]
    loss = math.fsum(last) / len(last)
    if not math.isfinite(loss):
        raise NonFiniteLoss(
            f"The warm start came to a loss of {loss}. Nothing was saved: lower the learning rate."
        )
    return loss


def _arguments_of(request: WarmStartRequest, output: Path) -> TrainingArguments:
    config, optimizer = request["config"], request["config"]["optimizer"]
    is_cpu = config["device"] == "cpu"
    micro = gcd(request["batch"], config["microBatch"])
    return TrainingArguments(
        output_dir=str(output),
        seed=config["seed"],
        use_cpu=is_cpu,
        bf16=config["precision"] == "bfloat16",
        activation_checkpointing=not is_cpu,
        per_device_train_batch_size=micro,
        gradient_accumulation_steps=request["batch"] // micro,
        max_steps=request["steps"],
        learning_rate=request["learningRate"],
        lr_scheduler_type="linear",
        warmup_steps=request["warmupSteps"],
        adam_beta1=optimizer["beta1"],
        adam_beta2=optimizer["beta2"],
        adam_epsilon=optimizer["epsilon"],
        weight_decay=optimizer["weightDecay"],
        max_grad_norm=optimizer["maxGradNorm"],
        remove_unused_columns=False,
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
    )
