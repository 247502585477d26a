"""Supervised training on examples, without which a small policy writes no readable plan."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from math import gcd
from pathlib import Path
from statistics import fmean
from typing import Any

from datasets import Dataset
from transformers import (
    DataCollatorForSeq2Seq,
    PreTrainedTokenizerBase,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)

from conductor_trainer.chat import break_markers, chat_of, close, encode, prompts_of
from conductor_trainer.checkpoint import Chat, Record, require_record
from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import BadRequest, ModelInvalid, NonFiniteLoss
from conductor_trainer.model import Policy, load_policy, load_tokenizer
from conductor_trainer.step.messages import Report
from conductor_trainer.thoughts import always_thinks
from conductor_trainer.train.grpo_config import StopAfter, shared_arguments
from conductor_trainer.train.init import BASE, begin
from conductor_trainer.train.memory import Passing, require_memory
from conductor_trainer.train.record import LearnTogether, Made, join_ranks, make, save_made

IGNORED = -100

Example = dict[str, list[int]]


def warm_start(root: Path, request: JsonObject, learn_together: LearnTogether) -> JsonObject:
    def build(temporary: Path) -> Record:
        name, config, base = request["name"], request["config"], _parent_of(root, request).base
        # Within a run (imitation), the next batch may hold plans of the parent.
        before = None if request["parent"]["name"] == BASE else request["parent"]
        made = Made(root, temporary, "warmStart", name, request, base, parent=before)
        if request["weights"] == "tuned" or config["tuning"]["kind"] == "full":
            return learn_together(learn_examples, made, outcome_of)
        whole = {**request, "config": {**config, "tuning": {"kind": "full"}}}
        learning = replace(made, request=whole)
        learned = learn_together(learn_examples, learning, outcome_of)
        return begin(replace(made, base=learned.folder), learning.saved, learned.outcome)

    return make(root, request, request["name"], build)


def _parent_of(root: Path, request: JsonObject) -> Record:
    """Returns the record to train from; to train all weights, that of an adapter's base model."""
    parent, record = request["parent"], require_record(root, request["parent"])
    if request["weights"] == "tuned" or record.kind == "model":
        return record
    if parent["name"] != BASE:
        raise BadRequest(
            f"A warm start of all weights must start from {parent['trainRun']}/{BASE}, not from "
            f"{parent['trainRun']}/{parent['name']}: what its adapter has learned would be lost."
        )
    return replace(record, kind="model", folder=record.base)


def learn_examples(made: Made, examples: Path, report: Report) -> tuple[Policy, JsonObject]:
    """Trains alone or as one of several processes; returns the policy and the loss of each step."""
    report("loading")
    request, config = made.request, made.config
    parent = _parent_of(made.root, request)
    folder = made.root / parent.folder
    tokenizer = load_tokenizer(folder)
    learned = read_examples(examples, tokenizer, chat_of(made.root, parent, tokenizer))
    rows, longest = _micro_batch(request), max(len(each["input_ids"]) for each in learned)
    whole = folder if parent.kind == "model" else made.root / parent.base
    require_memory(whole, config, Passing(tokens=rows * longest, scored=rows * _scored(learned)))
    join_ranks(config)
    policy = load_policy(made.root, parent, config, to_learn=True)
    arguments = _arguments_of(request, made.temporary)
    trainer = Trainer(
        model=policy,
        args=arguments,
        train_dataset=Dataset.from_list(learned),
        data_collator=ScoredReplies(tokenizer),
        callbacks=[StopAfter(arguments.max_steps, report)],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    report("saving")
    save_made(made, policy, folder)
    steps = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return policy, {"losses": steps}


class ScoredReplies:
    """Collator that pads left, so that the model computes logits only for the ends of rows.

    Logits of prompts are not used, and with a large vocabulary would take most of the memory.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        tokenizer.padding_side = "left"
        self._pad = DataCollatorForSeq2Seq(tokenizer, label_pad_token_id=IGNORED)

    def __call__(self, examples: Sequence[Example]) -> dict[str, Any]:
        batch = dict(self._pad(list(examples)))
        scored = _scored(examples)
        return {**batch, "labels": batch["labels"][:, -scored:], "logits_to_keep": scored}


def _scored(examples: Sequence[Example]) -> int:
    """Counts the longest reply's tokens, and the token before it, which predicts its first."""
    return 1 + max(sum(label != IGNORED for label in each["labels"]) for each in examples)


def _micro_batch(request: JsonObject) -> int:
    share = -(-request["batch"] // request["config"]["processes"])
    return gcd(share, request["config"]["microBatch"])


def outcome_of(told: Sequence[JsonObject], seconds: float) -> JsonObject:
    """Returns as the loss the mean over the last tenth of the steps, in nats per token."""
    losses = told[0]["losses"]
    loss = fmean(losses[-math.ceil(len(losses) / 10) :])
    if not math.isfinite(loss):
        raise NonFiniteLoss(
            f"The loss of the warm start is {loss}. Nothing was saved: lower the learning rate."
        )
    return {"loss": loss, "seconds": seconds}


def _arguments_of(request: JsonObject, output: Path) -> TrainingArguments:
    together = _micro_batch(request) * request["config"]["processes"]
    return TrainingArguments(
        **shared_arguments(request["config"], output),
        per_device_train_batch_size=_micro_batch(request),
        gradient_accumulation_steps=-(-request["batch"] // together),
        max_steps=request["steps"],
        learning_rate=request["learningRate"],
        lr_scheduler_type="linear",
        warmup_steps=request["warmupSteps"],
        remove_unused_columns=False,
    )


def read_examples(path: Path, tokenizer: PreTrainedTokenizerBase, chat: Chat) -> list[Example]:
    """Reads `{messages, completion}` lines, or `{prompt, completion}` with markers written out.

    The labels are the completion and its end token. Prompts are written as for a reply without
    thoughts, so that a template's empty thought is read, and not learned.
    """
    examples = [json.loads(line) for line in path.open()]
    asked = [each for each in examples if "messages" in each]
    if asked and always_thinks(tokenizer):
        raise ModelInvalid(
            "The model's chat template begins every reply with thoughts, and examples have none: "
            "start without `training.warmStart` and `training.imitation`, or from a model that "
            "can be told not to think, such as Qwen3."
        )
    rendered = iter(prompts_of(tokenizer, chat, [each["messages"] for each in asked]))
    written = iter(encode(tokenizer, [each["prompt"] for each in examples if "prompt" in each]))
    replies = encode(
        tokenizer,
        [
            each["completion"] if "prompt" in each else break_markers(chat, each["completion"])
            for each in examples
        ],
    )
    learned: list[Example] = []
    for each, reply in zip(examples, replies, strict=True):
        prompt, closed = next(written if "prompt" in each else rendered), close(chat, reply)
        labels = [IGNORED] * len(prompt) + closed
        learned.append({"input_ids": prompt + closed, "labels": labels})
    return learned
