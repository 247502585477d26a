"""A batch of rollouts: gzip JSON lines in, checked rows out. Only checked rows are learned from."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from conductor_trainer.errors import BatchInvalid


@dataclass(frozen=True)
class Rollout:
    """One plan as the policy sampled it, and what it earned."""

    rollout_id: str
    group_id: str
    prompt_ids: list[int]
    completion_ids: list[int]
    """The end of the reply included."""
    sampled_logprobs: list[float]
    """Of each completion token, by the policy that wrote it, at the sampling temperature."""
    reward: float | None
    is_whole: bool
    """It ended by itself; else at the most tokens that it may have."""


@dataclass(frozen=True)
class Expected:
    """What the batch of one update must agree with."""

    train_run: str
    cycle: int
    policy: str
    """Name of the checkpoint that the update goes on from."""
    writers: Sequence[str]
    """Checkpoints that may have written the plans, each `<training run>/<name>`."""
    tokenizer_sha256: str
    temperature: float
    vocabulary: int
    most_rollouts: int
    most_prompt_tokens: int
    most_completion_tokens: int


def read_batch(data: bytes, expected: Expected) -> list[Rollout]:
    """What can be learned from. Raises `BatchInvalid` as `read_rollouts` does."""
    rollouts = read_rollouts(data, expected)
    _check_groups(rollouts)
    return rollouts


def read_rollouts(data: bytes, expected: Expected) -> list[Rollout]:
    """Raises `BatchInvalid` with line (the header is line 1) and field of the first fault."""
    header, *rows = _lines(data)
    announced = _check_header(header, expected)
    rollouts = [_read_rollout(row, expected) for row in rows]
    if len(rollouts) != announced:
        raise header.wrong("rollouts", f"announces {announced}, but {len(rollouts)} follow")
    _check_order(rollouts)
    return rollouts


def _lines(data: bytes) -> Iterator[_Line]:
    try:
        text = gzip.decompress(data).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as cause:
        raise BatchInvalid(
            f"The batch is not gzip of UTF-8 text: {cause}. Write it again."
        ) from cause
    for number, content in enumerate(text.splitlines() or [""], start=1):
        try:
            yield _Line(number, json.loads(content))
        except ValueError as cause:
            raise BatchInvalid(
                f"Line {number}: not JSON: {cause}. Write the batch again."
            ) from cause


def _check_header(header: _Line, expected: Expected) -> int:
    """Returns how many rollouts are announced."""
    wanted_of: dict[str, Any] = {
        "schema": 1,
        "trainRun": expected.train_run,
        "cycle": expected.cycle,
        "policy": expected.policy,
        "tokenizerSha256": expected.tokenizer_sha256,
        "temperature": expected.temperature,
    }
    for name, wanted in wanted_of.items():
        if header.get(name) != wanted:
            found = header.get(name)
            raise header.wrong(name, f"is {found!r}, but this update is for {wanted!r}")
    count = header.get("rollouts")
    if not isinstance(count, int) or not 0 < count <= expected.most_rollouts:
        most = expected.most_rollouts
        raise header.wrong("rollouts", f"is {count!r}, but the settings allow 1 to {most}")
    return count


def _read_rollout(line: _Line, expected: Expected) -> Rollout:
    vocabulary = expected.vocabulary
    line.one_of("policy", expected.writers)
    completion_ids = line.token_ids(
        "completionTokenIds", vocabulary, expected.most_completion_tokens
    )
    return Rollout(
        rollout_id=line.text("rolloutId"),
        group_id=line.text("groupId"),
        prompt_ids=line.token_ids("promptTokenIds", vocabulary, expected.most_prompt_tokens),
        completion_ids=completion_ids,
        sampled_logprobs=line.logprobs("sampledLogprobs", len(completion_ids)),
        reward=line.number_or_null("reward"),
        is_whole=line.one_of("finishReason", ("stop", "length")) == "stop",
    )


def _check_order(rollouts: Sequence[Rollout]) -> None:
    """One order only, so that the same rollouts always add up to the same bits."""
    for number, (before, after) in enumerate(pairwise(rollouts), start=3):
        if after.rollout_id <= before.rollout_id:
            raise BatchInvalid(
                f"Line {number}, rolloutId: {after.rollout_id!r} does not come after "
                f"{before.rollout_id!r}: lines must be in ascending order, and each id there once. "
                "Write the batch again."
            )


def _check_groups(rollouts: Sequence[Rollout]) -> None:
    """A group teaches by its differences: one without any only dilutes the others."""
    rewards_of_group: defaultdict[str, list[float]] = defaultdict(list)
    for rollout in rollouts:
        rewards = rewards_of_group[rollout.group_id]
        if rollout.reward is not None:
            rewards.append(rollout.reward)
    for group_id, rewards in rewards_of_group.items():
        if len(set(rewards)) < 2:
            raise BatchInvalid(
                f"Group {group_id!r}, reward: its {len(rewards)} graded rollouts do not differ, so "
                "there is nothing to learn. Leave such groups out of the batch."
            )


@dataclass(frozen=True)
class _Line:
    """A line's number, from 1, and its content. Every reader raises `BatchInvalid`."""

    number: int
    fields: Any

    def get(self, name: str) -> Any:
        if not isinstance(self.fields, dict):
            raise BatchInvalid(f"Line {self.number}: not a JSON object. Write the batch again.")
        if name not in self.fields:
            raise self.wrong(name, "is missing")
        return self.fields[name]

    def wrong(self, name: str, what: str) -> BatchInvalid:
        return BatchInvalid(f"Line {self.number}, {name}: {what}. Write the batch again.")

    def text(self, name: str) -> str:
        value = self.get(name)
        if not isinstance(value, str) or value == "":
            raise self.wrong(name, f"is {value!r}, but must be a text")
        return value

    def one_of(self, name: str, values: Sequence[str]) -> str:
        value = self.get(name)
        if value not in values:
            raise self.wrong(name, f"is {value!r}, but must be one of {', '.join(values)}")
        return value

    def number_or_null(self, name: str) -> float | None:
        value = self.get(name)
        if value is not None and not _is_finite(value):
            raise self.wrong(name, f"is {value!r}, but must be finite, or null")
        return value

    def token_ids(self, name: str, vocabulary: int, most: int) -> list[int]:
        ids = self._list(name)
        if not 0 < len(ids) <= most:
            raise self.wrong(name, f"has {len(ids)} tokens, but must have 1 to {most}")
        for at, token in enumerate(ids):
            if type(token) is not int or not 0 <= token < vocabulary:
                raise self.wrong(
                    f"{name}[{at}]", f"is {token!r}, but the vocabulary has 0 to {vocabulary - 1}"
                )
        return ids

    def logprobs(self, name: str, tokens: int) -> list[float]:
        values = self._list(name)
        if len(values) != tokens:
            raise self.wrong(name, f"has {len(values)} values for {tokens} completion tokens")
        for at, value in enumerate(values):
            if not _is_finite(value) or value > 0:
                raise self.wrong(f"{name}[{at}]", f"is {value!r}, but must be finite and at most 0")
        return values

    def _list(self, name: str) -> list[Any]:
        value = self.get(name)
        if not isinstance(value, list):
            raise self.wrong(name, f"is {value!r}, but must be a list")
        return value


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)
