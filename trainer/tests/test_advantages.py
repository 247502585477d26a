"""Rewards become advantages just as in TRL, and a missing reward changes no other."""

import math

import pytest
import torch
from trl.trainer.utils import nanstd

from conductor_trainer.tensors import advantages_of

REWARDS = [0.0, 0.5, 1.0, 0.5, 0.0, None, 1.0, 1.0]
GROUPS = ["a"] * 4 + ["b"] * 4


def trl_advantages(scale: str) -> list[float]:
    """TRL's own formula: groups as rows, NaN for what could not be graded."""
    rewards_PG = torch.tensor(
        [math.nan if reward is None else reward for reward in REWARDS], dtype=torch.float64
    ).view(2, 4)
    advantages_PG = rewards_PG - rewards_PG.nanmean(1, keepdim=True)
    if scale == "group":
        advantages_PG = advantages_PG / (nanstd(rewards_PG, dim=1, keepdim=True) + 1e-4)
    return advantages_PG.nan_to_num(0.0).flatten().tolist()


@pytest.mark.parametrize("scale", ["group", "none"])
def test_advantages_are_those_of_trl(scale: str) -> None:
    ours = advantages_of(REWARDS, GROUPS, scale)  # pyright: ignore[reportArgumentType]
    # TRL counts the rewards of a group in float32.
    assert ours == pytest.approx(trl_advantages(scale), abs=1e-6)


def test_the_order_of_the_rows_does_not_matter() -> None:
    order = [5, 0, 7, 2, 1, 6, 3, 4]
    shuffled = advantages_of([REWARDS[i] for i in order], [GROUPS[i] for i in order], "group")
    straight = advantages_of(REWARDS, GROUPS, "group")
    assert shuffled == pytest.approx([straight[i] for i in order], abs=1e-12)


def test_a_missing_reward_gets_nothing_and_takes_nothing() -> None:
    with_one = advantages_of([0.0, None, 1.0], ["a"] * 3, "group")
    assert with_one[1] == 0
    assert [with_one[0], with_one[2]] == advantages_of([0.0, 1.0], ["a"] * 2, "group")


def test_a_single_reward_has_nothing_to_be_compared_with() -> None:
    assert advantages_of([1.0, None], ["a", "a"], "group") == [0.0, 0.0]
