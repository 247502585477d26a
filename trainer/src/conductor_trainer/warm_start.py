"""Supervised learning of examples, before any reward: so that the first plans can be read at all."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from math import gcd
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase, PrinterCallback, Trainer, TrainingArguments

from conductor_trainer.chat import END_OF_TURN
from conductor_trainer.checkpoint import Record, identity_of, make_once, require_record
from conductor_trainer.errors import BadRequest, NonFiniteLoss
from conductor_trainer.grpo_trainer import StopAfter
from conductor_trainer.model import load_policy, load_tokenizer
from conductor_trainer.record import Made, describe, save_record
from conductor_trainer.requests import CheckpointName, JsonObject, WarmStartRequest

IGNORED = -100
"""Label of tokens that are read, not learned."""

Example = dict[str, list[int]]


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
        made = Made(root, temporary, target, identity, parent.base, request["config"], step=0)
        policy_folder = root / parent.folder
        tokenizer = load_tokenizer(policy_folder)
        policy = load_policy(root, parent, request["config"])
        loss = learn_examples(
            policy, tokenizer, read_examples(examples, tokenizer), request, temporary, report
        )
        report("saving")
        seconds = time.perf_counter() - started
        return save_record(
            made, policy, tokenizer, policy_folder, {"loss": loss, "seconds": seconds}
        )

    record, replayed = make_once(root, target, identity, build)
    return describe(root, target, record, replayed)


def learn_examples(
    policy: Any,
    tokenizer: PreTrainedTokenizerBase,
    examples: Sequence[Example],
    request: WarmStartRequest,
    output: Path,
    report: Callable[[str], None],
) -> float:
    """AdamW with a linear schedule after the warm-up. Returns the mean loss of the last tenth of the steps."""
    trainer = Trainer(
        model=policy,
        args=arguments_of(request, output),
        train_dataset=examples,
        data_collator=lambda rows: pad(rows, tokenizer.pad_token_id),
        callbacks=[StopAfter(request["steps"], report)],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    last = losses[-max(1, len(losses) // 10) :]
    loss = math.fsum(last) / len(last)
    if not math.isfinite(loss):
        raise NonFiniteLoss(
            f"The warm start came to a loss of {loss}. Nothing was saved: lower the learning rate."
        )
    return loss


def arguments_of(request: WarmStartRequest, output: Path) -> TrainingArguments:
    config = request["config"]
    optimizer = config["optimizer"]
    is_cpu = config["device"] == "cpu"
    micro = gcd(request["batch"], config["microBatch"])
    return TrainingArguments(
        output_dir=str(output),
        seed=config["seed"],
        use_cpu=is_cpu,
        bf16=config["precision"] == "bfloat16",
        gradient_checkpointing=not is_cpu,
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
    """`{prompt, completion}` a line. Loss is taken on the completion alone, and on the end that closes it."""
    end_id = tokenizer.convert_tokens_to_ids(END_OF_TURN)
    examples: list[Example] = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        prompt, completion = example_of(number, line)
        prompt_ids = tokenizer.encode(prompt, add_special_tokens=False)
        completion_ids = tokenizer.encode(completion, add_special_tokens=False)
        if completion_ids[-1:] != [end_id]:
            completion_ids.append(end_id)
        examples.append(
            {
                "input_ids": prompt_ids + completion_ids,
                "labels": [IGNORED] * len(prompt_ids) + completion_ids,
            }
        )
    if not examples:
        raise BadRequest("There are no examples to learn from: the file is empty.")
    return examples


def example_of(number: int, line: str) -> tuple[str, str]:
    try:
        fields = json.loads(line)
        prompt, completion = fields["prompt"], fields["completion"]
    except (ValueError, KeyError, TypeError) as cause:
        raise BadRequest(
            f'Line {number} of the examples is not {{"prompt", "completion"}}: {cause!r}.'
        ) from cause
    if not isinstance(prompt, str) or not isinstance(completion, str):
        raise BadRequest(f"Line {number} of the examples: prompt and completion must be texts.")
    return prompt, completion


def pad(rows: Sequence[Example], pad_id: int) -> dict[str, torch.Tensor]:
    longest = max(len(row["input_ids"]) for row in rows)

    def right(name: str, filler: int) -> torch.Tensor:
        return torch.tensor([row[name] + [filler] * (longest - len(row[name])) for row in rows])

    lengths_B = torch.tensor([len(row["input_ids"]) for row in rows])
    return {
        "input_ids": right("input_ids", pad_id),
        "labels": right("labels", IGNORED),
        "attention_mask": (torch.arange(longest)[None, :] < lengths_B[:, None]).long(),
    }
