"""The one place where rewards become advantages, whatever the backend."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

STD_FLOOR = 1e-4
"""Added to the standard deviation, so that nearly equal rewards are not blown up; TRL's value."""


def advantages_of(
    rewards_B: Sequence[float | None],
    group_ids_B: Sequence[str],
    scale: Literal["group", "none"],
) -> list[float]:
    """Compares each reward with the others of its group (arXiv 2402.03300, section 4.1).

    The baseline is the group's mean. `group` divides by its sample standard deviation (over n - 1,
    as in TRL), `none` does not (arXiv 2503.20783). A reward of None stands outside the baseline
    and gets 0.
    """
    rows_of_group: defaultdict[str, list[int]] = defaultdict(list)
    for row, (reward, group_id) in enumerate(zip(rewards_B, group_ids_B, strict=True)):
        if reward is not None:
            rows_of_group[group_id].append(row)

    advantages_B = [0.0] * len(rewards_B)
    for rows_G in rows_of_group.values():
        rewards_G = [reward for row in rows_G if (reward := rewards_B[row]) is not None]
        mean = math.fsum(rewards_G) / len(rewards_G)
        divisor = spread_of(rewards_G) + STD_FLOOR if scale == "group" else 1.0
        for row, reward in zip(rows_G, rewards_G, strict=True):
            advantages_B[row] = (reward - mean) / divisor
    return advantages_B


def spread_of(rewards_G: Sequence[float]) -> float:
    """Sample standard deviation; 0 for a single reward."""
    if len(rewards_G) < 2:
        return 0.0
    mean = math.fsum(rewards_G) / len(rewards_G)
    return math.sqrt(math.fsum((reward - mean) ** 2 for reward in rewards_G) / (len(rewards_G) - 1))
