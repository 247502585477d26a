"""Supervised learning before any reward: without it a small policy writes no readable plan."""

import json
import math
import time
from collections.abc import Callable, Sequence
from math import gcd
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import (
    PreTrainedTokenizerBase,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)

from conductor_trainer.checkpoint import Record, describe, identity_of, require_record
from conductor_trainer.contract import CheckpointName, JsonObject, WarmStartRequest
from conductor_trainer.errors import BadRequest, NonFiniteLoss
from conductor_trainer.grpo_config import StopAfter
from conductor_trainer.make_once import make_once
from conductor_trainer.model import (
    END_OF_TURN,
    Policy,
    load_policy,
    load_tokenizer,
    pad_id_of,
)
from conductor_trainer.record import Made, save_record

IGNORED = -100
"""Label of tokens that are read, but not learned."""

Example = dict[str, list[int]]


def warm_start(
    root: Path, request: WarmStartRequest, examples: Path, report: Callable[[str], None]
) -> JsonObject:
    """Makes a checkpoint that has learned prompts with their replies."""
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
    return describe(target, record, replayed)


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


def read_examples(path: Path, tokenizer: PreTrainedTokenizerBase) -> list[Example]:
    """Reads `{prompt, completion}` a line; learned are the completion and the end that closes it.

    Raises `BadRequest` with the line that is something else.
    """
    texts = [_read_line(number, line) for number, line in enumerate(path.open(), start=1)]
    if not texts:
        raise BadRequest("There are no examples to learn from: the file is empty.")
    prompts = _encode(tokenizer, [prompt for prompt, _ in texts])
    replies = _encode(tokenizer, [reply for _, reply in texts])
    end_id: Any = tokenizer.convert_tokens_to_ids(END_OF_TURN)
    return [
        _example_of(prompt, reply if reply[-1:] == [end_id] else [*reply, end_id])
        for prompt, reply in zip(prompts, replies, strict=True)
    ]


def pad_examples(examples: Sequence[Example], pad_id: int) -> dict[str, torch.Tensor]:
    """Examples of one batch, padded right."""
    lengths_B = [len(example["input_ids"]) for example in examples]
    longest = max(lengths_B)

    def padded(name: str, filler: int) -> torch.Tensor:
        rows = [[*each[name], *[filler] * (longest - len(each[name]))] for each in examples]
        return torch.tensor(rows)

    return {
        "input_ids": padded("input_ids", pad_id),
        "labels": padded("labels", IGNORED),
        "attention_mask": (torch.arange(longest) < torch.tensor(lengths_B)[:, None]).long(),
    }


def _encode(tokenizer: PreTrainedTokenizerBase, texts: list[str]) -> list[list[int]]:
    return [*tokenizer(texts, add_special_tokens=False)["input_ids"]]


def _example_of(prompt_ids: list[int], reply_ids: list[int]) -> Example:
    return {
        "input_ids": [*prompt_ids, *reply_ids],
        "labels": [IGNORED] * len(prompt_ids) + reply_ids,
    }


def _read_line(number: int, line: str) -> tuple[str, str]:
    try:
        fields = json.loads(line)
    except ValueError as cause:
        raise BadRequest(f"Line {number} of the examples is not JSON: {cause}.") from cause
    match fields:
        case {"prompt": str(prompt), "completion": str(completion)}:
            return prompt, completion
    raise BadRequest(
        f"Line {number} of the examples must be an object with the texts `prompt` and `completion`."
    )
