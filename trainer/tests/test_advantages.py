"""Rewards become advantages just as in TRL, and a missing reward changes no other."""

import math
from typing import Any

import pytest
import torch
from trl.trainer.utils import nanstd

from conductor_trainer.train.tensors import advantages_of

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
    if scale == "batch":
        advantages_PG = advantages_PG / (nanstd(rewards_PG) + 1e-4)
    return advantages_PG.nan_to_num(0.0).flatten().tolist()


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
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


ONE_WITHOUT_A_PLAN = [0.0] + [0.5] * 31


def test_one_reply_without_a_plan_weighs_as_much_as_all_others() -> None:
    lone, *others = advantages_of(ONE_WITHOUT_A_PLAN, ["a"] * 32, "group")
    # (0 - 0.484) / 0.0884: 31 / sqrt(32), but for what is added to the deviation.
    assert lone == pytest.approx(-5.474, abs=1e-3)
    assert lone == pytest.approx(-sum(others))


def test_over_the_whole_batch_it_weighs_less() -> None:
    rewards, groups = [*ONE_WITHOUT_A_PLAN, *[0.5, 1.0] * 16], ["a"] * 32 + ["b"] * 32
    advantages = advantages_of(rewards, groups, "batch")
    # The rewards add up to 39.5 and their squares to 27.75.
    deviation = math.sqrt((27.75 - 39.5**2 / 64) / 63)
    assert advantages[0] == pytest.approx(-0.484375 / (deviation + 1e-4))
    assert advantages[0] == pytest.approx(-2.093, abs=1e-3)
    assert advantages[32:34] == pytest.approx(
        [-0.25 / (deviation + 1e-4), 0.25 / (deviation + 1e-4)]
    )


def test_no_advantage_is_beyond_its_bound() -> None:
    bounded = advantages_of(ONE_WITHOUT_A_PLAN, ["a"] * 32, "group", 2.0)
    assert bounded[0] == -2.0
    assert bounded[1:] == advantages_of(ONE_WITHOUT_A_PLAN, ["a"] * 32, "group")[1:]
    above = advantages_of([1.0, 0.5, 0.5, 0.5], ["a"] * 4, "group", 1.2)
    assert above[0] == 1.2


def test_what_a_plan_costs_weighs_as_little_as_in_its_reward() -> None:
    # Right, wrong, and right for a cent more.
    rewards, outcomes = [1.0, 0.5, 0.99], [1.0, 0.5, 1.0]
    advantages = advantages_of(rewards, ["a"] * 3, "group", outcomes_B=outcomes)
    spread = math.sqrt(1 / 12) + 1e-4
    assert advantages == pytest.approx([(each - 0.83) / spread for each in rewards])


@pytest.mark.parametrize("scale", ["group", "batch"])
def test_cents_between_right_answers_alone_stay_cents(scale: Any) -> None:
    rewards, outcomes = [1.0, 0.99, 0.98, 0.5, 1.0], [1.0, 1.0, 1.0, 0.5, 1.0]
    advantages = advantages_of(rewards, ["a"] * 3 + ["b"] * 2, scale, outcomes_B=outcomes)
    # The deviation of the five outcomes.
    spread = math.sqrt(0.05) + 1e-4
    assert advantages[:3] == pytest.approx([0.01 / spread, 0, -0.01 / spread])
    alone = advantages_of(rewards[:3], ["a"] * 3, scale, outcomes_B=outcomes[:3])
    assert alone == pytest.approx([0.01, 0, -0.01])
