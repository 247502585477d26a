"""A batch of rollouts: gzip JSON lines in, checked rows out. Nothing reaches the optimizer unchecked."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Expected:
    """What the batch of one update must agree with."""

    train_run: str
    cycle: int
    policy: str
    tokenizer_sha256: str
    temperature: float
    vocabulary: int
    most_rollouts: int
    most_prompt_tokens: int
    most_completion_tokens: int


def read_batch(data: bytes, expected: Expected) -> list[Rollout]:
    """Raises BatchInvalid with the line (the header is line 1) and the field of the first thing that is wrong."""
    lines = json_lines(data)
    header = next(lines, None)
    if header is None:
        raise BatchInvalid("The batch is empty: it has no header. Write the batch again.")
    count = check_header(header, expected)
    rollouts = [read_row(Row(line + 2, fields), expected) for line, fields in enumerate(lines)]
    if len(rollouts) != count:
        raise BatchInvalid(
            f"Line 1, rollouts: the header announces {count}, but {len(rollouts)} follow. Write the batch again."
        )
    check_order(rollouts)
    check_groups(rollouts)
    return rollouts


def json_lines(data: bytes) -> Iterator[Any]:
    try:
        text = gzip.decompress(data).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as cause:
        raise BatchInvalid(
            f"The batch is not gzip text in UTF-8: {cause}. Write it again."
        ) from cause
    for line, content in enumerate(text.splitlines(), start=1):
        try:
            yield json.loads(content)
        except ValueError as cause:
            raise BatchInvalid(f"Line {line}: not JSON: {cause}. Write the batch again.") from cause


def check_header(header: Any, expected: Expected) -> int:
    """Returns how many rollouts are announced."""
    row = Row(1, header)
    for name, wanted in (
        ("schema", 1),
        ("trainRun", expected.train_run),
        ("cycle", expected.cycle),
        ("policy", expected.policy),
        ("tokenizerSha256", expected.tokenizer_sha256),
        ("temperature", expected.temperature),
    ):
        if row.get(name) != wanted:
            raise row.wrong(name, f"is {row.get(name)!r}, but this update is for {wanted!r}")
    count = row.get("rollouts")
    if not isinstance(count, int) or not 0 < count <= expected.most_rollouts:
        raise row.wrong(
            "rollouts", f"is {count!r}, but the settings allow 1 to {expected.most_rollouts}"
        )
    return count


@dataclass(frozen=True)
class Row:
    """One line's fields, and where it stands."""

    line: int
    fields: Any

    def get(self, name: str) -> Any:
        if not isinstance(self.fields, dict):
            raise BatchInvalid(f"Line {self.line}: expected a JSON object. Write the batch again.")
        if name not in self.fields:
            raise self.wrong(name, "is missing")
        return self.fields[name]

    def wrong(self, name: str, what: str) -> BatchInvalid:
        return BatchInvalid(f"Line {self.line}, {name}: {what}. Write the batch again.")


def read_row(row: Row, expected: Expected) -> Rollout:
    completion_ids = token_ids(
        row, "completionTokenIds", expected.vocabulary, expected.most_completion_tokens
    )
    return Rollout(
        rollout_id=text_of(row, "rolloutId"),
        group_id=text_of(row, "groupId"),
        prompt_ids=token_ids(
            row, "promptTokenIds", expected.vocabulary, expected.most_prompt_tokens
        ),
        completion_ids=completion_ids,
        sampled_logprobs=logprobs_of(row, len(completion_ids)),
        reward=reward_of(row),
    )


def text_of(row: Row, name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or value == "":
        raise row.wrong(name, f"is {value!r}, but must be a text")
    return value


def token_ids(row: Row, name: str, vocabulary: int, most: int) -> list[int]:
    ids = row.get(name)
    if not isinstance(ids, list) or not 0 < len(ids) <= most:
        length = len(ids) if isinstance(ids, list) else repr(ids)
        raise row.wrong(name, f"has {length} tokens, but must have 1 to {most}")
    for position, token in enumerate(ids):
        if type(token) is not int or not 0 <= token < vocabulary:
            raise row.wrong(
                f"{name}[{position}]", f"is {token!r}, but the vocabulary has 0 to {vocabulary - 1}"
            )
    return ids


def logprobs_of(row: Row, completion_tokens: int) -> list[float]:
    values = row.get("sampledLogprobs")
    if not isinstance(values, list) or len(values) != completion_tokens:
        length = len(values) if isinstance(values, list) else repr(values)
        raise row.wrong(
            "sampledLogprobs", f"has {length} values for {completion_tokens} completion tokens"
        )
    for position, value in enumerate(values):
        if not is_finite_number(value) or value > 0:
            raise row.wrong(
                f"sampledLogprobs[{position}]", f"is {value!r}, but must be finite and at most 0"
            )
    return values


def reward_of(row: Row) -> float | None:
    reward = row.get("reward")
    if reward is not None and not is_finite_number(reward):
        raise row.wrong("reward", f"is {reward!r}, but must be finite, or null")
    return reward


def is_finite_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def check_order(rollouts: Sequence[Rollout]) -> None:
    """One order only, so that the same rollouts always sum up to the same bits."""
    for line, (before, after) in enumerate(zip(rollouts, rollouts[1:], strict=False), start=3):
        if after.rollout_id <= before.rollout_id:
            raise BatchInvalid(
                f"Line {line}, rolloutId: {after.rollout_id!r} does not come after {before.rollout_id!r}: lines must be "
                "in ascending order and each id once. Write the batch again."
            )


def check_groups(rollouts: Sequence[Rollout]) -> None:
    """A group teaches by the differences within it: one without any would only dilute the others."""
    rewards_of_group: defaultdict[str, list[float]] = defaultdict(list)
    for rollout in rollouts:
        rewards = rewards_of_group[rollout.group_id]
        if rollout.reward is not None:
            rewards.append(rollout.reward)
    for group_id, rewards in rewards_of_group.items():
        if len(set(rewards)) < 2:
            raise BatchInvalid(
                f"Group {group_id!r}, reward: all {len(rewards)} graded rollouts have the same, so there is nothing to "
                "learn. Leave such groups out of the batch."
            )
