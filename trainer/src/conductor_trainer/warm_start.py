"""Supervised learning before any reward: without it a small policy writes no readable plan."""

import itertools
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import gcd
from pathlib import Path
from typing import Any, cast

import torch
from datasets import Dataset
from torch.utils.data import DataLoader
from transformers import (
    PreTrainedTokenizerBase,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)

from conductor_trainer.checkpoint import Record, describe, identity_of, require_record
from conductor_trainer.contract import CheckpointName, Config, JsonObject, WarmStartRequest
from conductor_trainer.errors import BadRequest, NonFiniteLoss
from conductor_trainer.grpo_config import StopAfter, ddp_backend_of
from conductor_trainer.init import BASE, begin
from conductor_trainer.learn_together import learn_together
from conductor_trainer.make_once import make_once
from conductor_trainer.memory import require_memory
from conductor_trainer.model import END_OF_TURN, Policy, load_tokenizer, pad_id_of
from conductor_trainer.record import Made
from conductor_trainer.sharding import Rank, join_ranks, load_together, save_together

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
        config, parent = request["config"], _parent_of(root, request)
        made = Made(root, temporary, target, identity, parent.base, config, step=0)

        def outcome_of(told: Sequence[JsonObject]) -> JsonObject:
            return {"loss": _loss_of(told[0]), "seconds": time.perf_counter() - started}

        is_tuned = request["weights"] == "tuned" or config["tuning"]["kind"] == "full"
        learning = config if is_tuned else cast(Config, {**config, "tuning": {"kind": "full"}})
        learned = learn_together(
            "warmStart",
            learn_examples,
            replace(made, config=learning),
            {**request, "config": learning},
            examples,
            outcome_of,
            report,
        )
        if is_tuned:
            return learned
        return begin(replace(made, base=learned.folder), temporary / "model", learned.outcome)

    record, replayed = make_once(root, target, identity, build)
    return describe(target, record, replayed)


def _parent_of(root: Path, request: WarmStartRequest) -> Record:
    """What is learned from; the model below an adapter, where all weights are learned."""
    parent, record = request["parent"], require_record(root, request["parent"])
    if request["weights"] == "tuned" or record.kind == "model":
        return record
    if parent["name"] != BASE:
        raise BadRequest(
            f"A warm start of all weights goes on from {parent['trainRun']}/{BASE}, not from "
            f"{parent['trainRun']}/{parent['name']}: what its adapter has learned would be lost."
        )
    return replace(record, kind="model", folder=record.base)


def learn_examples(
    made: Made, request: WarmStartRequest, examples: Path, report: Callable[[str], None]
) -> tuple[Policy, JsonObject]:
    """Learns from examples, alone or as one of several processes.

    Returns the policy, and the losses of all steps.
    """
    report("loading")
    config, parent = made.config, _parent_of(made.root, request)
    folder = made.root / parent.folder
    tokenizer = load_tokenizer(folder)
    learned = read_examples(examples, tokenizer)
    longest = max(len(each["input_ids"]) for each in learned)
    whole = folder if parent.kind == "model" else made.root / parent.base
    require_memory(whole, config, tokens=_micro_batch(request) * longest)
    rank = join_ranks(config)
    policy = load_together(made.root, parent, config, rank)
    pad_id = pad_id_of(tokenizer)
    arguments = _arguments_of(request, made.temporary)
    trainer = _OrderedTrainer(
        model=policy,
        args=arguments,
        train_dataset=Dataset.from_list([*learned, {"input_ids": [pad_id], "labels": [IGNORED]}]),
        data_collator=lambda batch: pad_examples(batch, pad_id),
        callbacks=[StopAfter(arguments.max_steps, report)],
        order=order_of(len(learned), request, rank),
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    report("saving")
    save_together(made, policy, folder, rank)
    steps = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return policy, {"losses": steps}


class _OrderedTrainer(Trainer):
    """Takes examples in an order that is given, which says who learns what."""

    def __init__(self, *, order: list[list[int]], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._order = order

    def get_train_dataloader(self) -> DataLoader[Any]:
        dataset: Any = self.train_dataset
        return DataLoader(dataset, batch_sampler=self._order, collate_fn=self.data_collator)


def order_of(count: int, request: WarmStartRequest, rank: Rank | None) -> list[list[int]]:
    """Which examples pass through a process at once, from the first step to the last.

    Each epoch has an order of its own. It ends with a step of what is left, and the places that are
    free in it, or in another process, are taken by the example `count`, which teaches nothing: so
    several processes learn in each step what one does.
    """
    number, processes = rank or Rank(0, 1)
    micro = _micro_batch(request)
    passes = processes * _passes(request)
    order: list[list[int]] = []
    for step in _steps_of(count, request):
        parts = [step[start : start + micro] for start in range(0, len(step), micro)]
        parts += [[count]] * (passes - len(parts))
        order += parts[number::processes]
    return order


def _steps_of(count: int, request: WarmStartRequest) -> Iterator[list[int]]:
    """As the library orders examples for a single process."""
    generator, batch, left = torch.Generator(), request["batch"], request["steps"]
    for epoch in itertools.count():
        generator.manual_seed(request["config"]["seed"] + epoch)
        examples = torch.randperm(count, generator=generator).tolist()
        for start in range(0, count, batch):
            if left == 0:
                return
            yield examples[start : start + batch]
            left -= 1


def _micro_batch(request: WarmStartRequest) -> int:
    """Examples that pass through a process at once."""
    share = -(-request["batch"] // request["config"]["processes"])
    return gcd(share, request["config"]["microBatch"])


def _passes(request: WarmStartRequest) -> int:
    """Of each process in a step."""
    return -(-request["batch"] // (_micro_batch(request) * request["config"]["processes"]))


def _loss_of(told: Mapping[str, Any]) -> float:
    """The mean of the last tenth of the steps, in nats a token."""
    losses = told["losses"]
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
    return TrainingArguments(
        output_dir=str(output),
        seed=config["seed"],
        use_cpu=is_cpu,
        bf16=config["precision"] == "bfloat16",
        activation_checkpointing=not is_cpu,
        ddp_backend=ddp_backend_of(config),
        per_device_train_batch_size=_micro_batch(request),
        gradient_accumulation_steps=_passes(request),
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
