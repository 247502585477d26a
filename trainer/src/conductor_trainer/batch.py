"""Reads a batch of rollouts (gzipped JSON lines), and validates every row before training."""

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from conductor_trainer.checkpoint import Record, id_of
from conductor_trainer.contract import CheckpointName, Config, JsonObject, fault_in, validator_of
from conductor_trainer.errors import BatchInvalid

Row = JsonObject
"""A rollout: `batchRow` of the contract."""


@dataclass(frozen=True)
class Expected:
    header: JsonObject
    """All header fields except the number of rollouts."""
    writers: Sequence[str]
    """Checkpoints that may have written the plans, each `<training run>/<name>`."""
    vocabulary: int
    ends: Sequence[int]
    """Tokens that end a reply; empty if the checkpoint's record does not say."""
    config: Config
    """Settings that limit the rollouts, and the tokens of prompts and replies."""


def expect(request: JsonObject, policy: CheckpointName, record: Record) -> Expected:
    """Returns what a request's batch must match; plans may be the policy's or its parent's."""
    header = {
        "schema": 1,
        "trainRun": request["trainRun"],
        "cycle": request["cycle"],
        "policy": policy["name"],
        "tokenizerSha256": record.tokenizerSha256,
        "temperature": request["config"]["temperature"],
    }
    writers = [id_of(each) for each in (policy, record.parent) if each is not None]
    ends = [] if record.chat is None else record.chat.ends
    return Expected(header, writers, record.vocabulary, ends, request["config"])


def read_batch(data: bytes, expected: Expected) -> list[Row]:
    """Returns rollouts to train on. Raises `BatchInvalid`, also if a group has no reward.

    Equal rewards stay: as in the paper, the denominator counts them.
    """
    rows = read_rollouts(data, expected)
    graded = {row["groupId"] for row in rows if row["reward"] is not None}
    for row in rows:
        if row["groupId"] not in graded:
            raise BatchInvalid(
                f"Group {row['groupId']!r}, reward: none of its rollouts was graded, so there is "
                "nothing to learn. Leave such groups out of the batch."
            )
    return rows


def read_rollouts(data: bytes, expected: Expected) -> list[Row]:
    """Raises `BatchInvalid` with the line (1 is the header) and field of the first fault."""
    header, *rows = _lines(data)
    _check_header(header, len(rows), expected)
    before = ""
    for line, row in enumerate(rows, start=2):
        _check_row(line, row, expected)
        # In a fixed order, sums over the same rollouts are bitwise identical.
        if row["rolloutId"] <= before:
            raise _fault(
                line,
                f".rolloutId: {row['rolloutId']!r} does not come after {before!r}: lines must be "
                "in ascending order, and each id must occur once",
            )
        before = row["rolloutId"]
    return rows


def _lines(data: bytes) -> Iterator[Any]:
    try:
        text = gzip.decompress(data).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as cause:
        raise BatchInvalid(
            f"The batch is not gzipped UTF-8 text: {cause}. Write it again."
        ) from cause
    for number, content in enumerate(text.splitlines() or [""], start=1):
        try:
            yield json.loads(content, parse_constant=_refuse)
        except ValueError as cause:
            raise _fault(number, f": not JSON: {cause}") from cause


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a finite number")


def _fault(line: int, fault: str) -> BatchInvalid:
    """`fault` begins with the field: `.cycle: is 4, …`."""
    return BatchInvalid(f"Line {line}{fault}. Write the batch again.")


def _require_form(line: int, message: str, value: Any) -> None:
    fault = fault_in(validator_of(message), value)
    if fault is not None:
        raise _fault(line, fault)


def _check_header(header: Any, rows: int, expected: Expected) -> None:
    _require_form(1, "batchHeader", header)
    for name, wanted in {**expected.header, "rollouts": rows}.items():
        if header[name] != wanted:
            raise _fault(1, f".{name}: is {header[name]!r}, but this update is for {wanted!r}")
    if rows > expected.config["rollouts"]:
        most = expected.config["rollouts"]
        raise _fault(1, f".rollouts: is {rows}, more than the settings' {most}")


def _check_row(line: int, row: Any, expected: Expected) -> None:
    _require_form(line, "batchRow", row)
    if row["policy"] not in expected.writers:
        allowed = ", ".join(expected.writers)
        raise _fault(line, f".policy: is {row['policy']!r}, but must be one of {allowed}")
    for name, most in (
        ("promptTokenIds", expected.config["maxPromptTokens"]),
        ("completionTokenIds", expected.config["maxCompletionTokens"]),
    ):
        count, last = len(row[name]), max(row[name])
        if count > most:
            raise _fault(line, f".{name}: has {count} tokens, but must have at most {most}")
        if last >= expected.vocabulary:
            end = expected.vocabulary - 1
            raise _fault(line, f".{name}: has {last}, but the vocabulary ends at {end}")
    values, tokens = len(row["sampledLogprobs"]), len(row["completionTokenIds"])
    if values != tokens:
        raise _fault(line, f".sampledLogprobs: has {values} values for {tokens} completion tokens")
    if row.get("thoughtTokens", 0) > tokens:
        raise _fault(line, f".thoughtTokens: is {row['thoughtTokens']}, of {tokens} tokens")
    _check_end(line, row, expected.ends)


def _check_end(line: int, row: Any, ends: Sequence[int]) -> None:
    """Requires that a reply ends at its first end token, as it would wherever the policy serves."""
    if not ends:
        return
    token_ids, reason = row["completionTokenIds"], row["finishReason"]
    found = [at for at, token in enumerate(token_ids) if token in ends]
    if found != ([len(token_ids) - 1] if reason == "stop" else []):
        raise _fault(
            line,
            f".completionTokenIds: has end tokens at {found} of {len(token_ids)} tokens, but its "
            f"finishReason is {reason!r}: the policy server must stop at each of {[*ends]}",
        )
