"""Prompts with the replies that they should get, as tokens to learn."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase

from conductor_trainer.chat import END_OF_TURN
from conductor_trainer.errors import BadRequest

IGNORED = -100
"""Label of tokens that are read, but not learned."""

Example = dict[str, list[int]]


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
