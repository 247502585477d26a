"""A batch that is not as agreed is refused, with the line and the field that are wrong."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conductor_trainer.batch import Expected, read_batch
from conductor_trainer.errors import BatchInvalid

EXPECTED = Expected(
    header={
        "schema": 1,
        "trainRun": "night",
        "cycle": 3,
        "policy": "000002",
        "tokenizerSha256": "a" * 64,
        "temperature": 1.0,
    },
    writers=("night/000002", "night/000001"),
    vocabulary=100,
    ends=(99, 98),
    config={"rollouts": 4, "maxPromptTokens": 3, "maxCompletionTokens": 3},
)

Lines = list[Any]


def good_lines() -> Lines:
    return [{**EXPECTED.header, "rollouts": 4}, *(row(place) for place in range(4))]


def row(place: int) -> dict[str, Any]:
    return {
        "rolloutId": f"r{place}",
        "groupId": "g0" if place < 2 else "g1",
        "round": 0,
        "policy": f"night/00000{1 + place % 2}",
        "promptTokenIds": [1, 2],
        "completionTokenIds": [3, 99],
        "sampledLogprobs": [-0.5, 0.0],
        "reward": float(place % 2),
        "finishReason": "stop",
    }


def packed(lines: Lines) -> bytes:
    return gzip.compress("\n".join(json.dumps(line) for line in lines).encode())


def test_rollouts_come_out_as_they_were_written() -> None:
    lines = good_lines()
    lines[2]["reward"] = None
    lines[2]["thoughtTokens"] = 2
    # Equal rewards stay in the batch: its mean is over them, too.
    lines[3]["reward"] = lines[4]["reward"]
    rollouts = read_batch(packed(lines), EXPECTED)
    assert [rollout["rolloutId"] for rollout in rollouts] == ["r0", "r1", "r2", "r3"]
    assert rollouts[1]["reward"] is None
    assert [rollout.get("thoughtTokens") for rollout in rollouts] == [None, 2, None, None]
    assert rollouts[0]["completionTokenIds"] == [3, 99]
    assert rollouts[0]["sampledLogprobs"] == [-0.5, 0.0]


def ungrade_second_group(lines: Lines) -> None:
    for line in lines[3:]:
        line["reward"] = None


def set_field(line: int, name: str, value: Any) -> Callable[[Lines], None]:
    return lambda lines: lines[line].update({name: value})


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (set_field(1, "completionTokenIds", [98, 99]), "has end tokens at [0, 1] of 2 tokens, but"),
        (
            set_field(1, "completionTokenIds", [3, 4]),
            "its finishReason is 'stop': the policy server",
        ),
        (set_field(1, "finishReason", "length"), "its finishReason is 'length': the policy server"),
        (set_field(0, "schema", 2), "Line 1.schema: 1 was expected"),
        (set_field(0, "cycle", 4), "Line 1.cycle: is 4, but this update is for 3"),
        (set_field(0, "trainRun", "other"), "Line 1.trainRun"),
        (set_field(0, "policy", "000001"), "Line 1.policy"),
        (set_field(0, "temperature", 0.7), "Line 1.temperature"),
        (set_field(0, "tokenizerSha256", "b" * 64), "Line 1.tokenizerSha256"),
        (set_field(0, "rollouts", 3), "Line 1.rollouts: is 3, but this update is for 4"),
        (lambda lines: lines[0].pop("policy"), "Line 1: 'policy' is a required property"),
        (lambda lines: lines.__setitem__(2, []), "Line 3: [] is not of type 'object'"),
        (set_field(1, "promptTokenIds", []), "Line 2.promptTokenIds"),
        (set_field(1, "promptTokenIds", [1] * 4), "Line 2.promptTokenIds: has 4 tokens"),
        (set_field(2, "completionTokenIds", [3, 100]), "Line 3.completionTokenIds: has 100"),
        (set_field(2, "completionTokenIds", [-1, 3]), "Line 3.completionTokenIds[0]: -1"),
        (set_field(2, "completionTokenIds", [True, 3]), "completionTokenIds[0]: True"),
        (set_field(3, "sampledLogprobs", [-1.0]), "Line 4.sampledLogprobs: has 1 values for 2"),
        (set_field(3, "sampledLogprobs", [-1, float("nan")]), "Line 4: not JSON: NaN"),
        (set_field(3, "sampledLogprobs", [float("-inf"), -1]), "Line 4: not JSON: -Infinity"),
        (set_field(3, "sampledLogprobs", [0.1, -1]), "Line 4.sampledLogprobs[0]: 0.1"),
        (set_field(1, "thoughtTokens", 3), "Line 2.thoughtTokens: is 3, of 2 tokens"),
        (set_field(1, "thoughtTokens", -1), "Line 2.thoughtTokens: -1"),
        (set_field(4, "reward", "1"), "Line 5.reward: '1' is not of type"),
        (set_field(2, "rolloutId", "r0"), "Line 3.rolloutId: 'r0' does not come after 'r0'"),
        (set_field(1, "rolloutId", "r9"), "Line 3.rolloutId: 'r1' does not come after 'r9'"),
        (ungrade_second_group, "Group 'g1', reward: none of its rollouts was graded"),
    ],
)
def test_what_is_wrong_is_named(spoil: Callable[[Lines], None], said: str) -> None:
    lines = good_lines()
    spoil(lines)
    with pytest.raises(BatchInvalid) as failure:
        read_batch(packed(lines), EXPECTED)
    assert said in str(failure.value)
    assert not failure.value.retryable


@pytest.mark.parametrize(
    "data", [b"", b"plain", gzip.compress(b""), gzip.compress(b"{"), packed([{}])[:-9]]
)
def test_what_is_no_batch_at_all_is_refused(data: bytes) -> None:
    with pytest.raises(BatchInvalid):
        read_batch(data, EXPECTED)


def allowing(rollouts: int) -> Expected:
    return replace(EXPECTED, config={**EXPECTED.config, "rollouts": rollouts})


def test_a_batch_is_not_larger_than_the_settings_say() -> None:
    with pytest.raises(BatchInvalid, match=r"Line 1\.rollouts: is 4, more than the settings' 3"):
        read_batch(packed(good_lines()), allowing(3))


def test_a_batch_may_be_shorter_than_the_settings_say() -> None:
    assert len(read_batch(packed(good_lines()), allowing(64))) == 4
