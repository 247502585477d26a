"""Rollouts as the padded tensors of one update, their rewards as advantages."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

import torch

from conductor_trainer.batch import Rollout
from conductor_trainer.contract import Config
from conductor_trainer.record import Rank

Tensors = dict[str, torch.Tensor]

STD_FLOOR = 1e-4
"""Added to the standard deviation, so that nearly equal rewards are not blown up; TRL's value."""


def rows_of(config: Config) -> int:
    """Rows of every batch, so that all minibatches are whole micro batches of all processes."""
    together = config["microBatch"] * config["processes"] * config["minibatches"]
    return max(2, -(-config["rollouts"] // together) * together)


def share_of_rank(batch: Tensors, rank: Rank | None) -> Tensors:
    """Its rows of the batch; what is counted over all of them stays."""
    if rank is None:
        return batch
    return {
        name: tensor if tensor.ndim == 0 else tensor.chunk(rank.processes)[rank.number]
        for name, tensor in batch.items()
    }


def to_tensors(rollouts: Sequence[Rollout], config: Config, pad_id: int) -> Tensors:
    """B rows, some without tokens; prompts are padded left to P, completions right to C."""
    rows_B = rows_of(config)
    prompt_P = max(len(rollout.prompt_ids) for rollout in rollouts)
    completion_C = max(len(rollout.completion_ids) for rollout in rollouts)
    prompt_ids_BP = torch.full((rows_B, prompt_P), pad_id)
    prompt_mask_BP = torch.zeros((rows_B, prompt_P), dtype=torch.long)
    # A row of nothing but padding would have no token to attend to, and come to NaN.
    prompt_mask_BP[:, -1] = 1
    completion_ids_BC = torch.full((rows_B, completion_C), pad_id)
    completion_mask_BC = torch.zeros((rows_B, completion_C), dtype=torch.long)
    sampled_logprobs_BC = torch.zeros((rows_B, completion_C))
    advantages_B = torch.zeros(rows_B)

    advantages = advantages_of(
        [rollout.reward for rollout in rollouts],
        [rollout.group_id for rollout in rollouts],
        config["scale"],
        config["maxAdvantage"] or math.inf,
    )
    for row, (rollout, advantage) in enumerate(zip(rollouts, advantages, strict=True)):
        prompt, completion = len(rollout.prompt_ids), len(rollout.completion_ids)
        prompt_ids_BP[row, prompt_P - prompt :] = torch.tensor(rollout.prompt_ids)
        prompt_mask_BP[row, prompt_P - prompt :] = 1
        completion_ids_BC[row, :completion] = torch.tensor(rollout.completion_ids)
        # TRL masks these for the attention, too.
        is_learned = rollout.is_whole or not config["loss"]["maskTruncated"]
        completion_mask_BC[row, :completion] = int(is_learned)
        sampled_logprobs_BC[row, :completion] = torch.tensor(rollout.sampled_logprobs)
        advantages_B[row] = advantage
    return {
        "prompt_ids": prompt_ids_BP,
        "prompt_mask": prompt_mask_BP,
        "completion_ids": completion_ids_BC,
        "completion_mask": completion_mask_BC,
        "sampling_per_token_logps": sampled_logprobs_BC,
        "advantages": advantages_B,
        "num_items_in_batch": completion_mask_BC.sum(),
        "rollouts_in_batch": torch.tensor(len(rollouts)),
    }


def advantages_of(
    rewards_B: Sequence[float | None],
    group_ids_B: Sequence[str],
    scale: Literal["group", "batch", "none"],
    most: float = math.inf,
) -> list[float]:
    """Compares each reward with the others of its group (arXiv 2402.03300, section 4.1).

    The baseline is the group's mean. `group` divides by its sample standard deviation (over n - 1,
    as in TRL), `batch` by that of all rewards (arXiv 2508.08221), `none` does not divide
    (arXiv 2503.20783). A reward of None stands outside the baseline and gets 0. None lies beyond
    `most`, on either side.
    """
    rows_of_group: defaultdict[str, list[int]] = defaultdict(list)
    for row, (reward, group_id) in enumerate(zip(rewards_B, group_ids_B, strict=True)):
        if reward is not None:
            rows_of_group[group_id].append(row)

    advantages_B = [0.0] * len(rewards_B)
    for rows_G in rows_of_group.values():
        rewards_G = [reward for row in rows_G if (reward := rewards_B[row]) is not None]
        mean = math.fsum(rewards_G) / len(rewards_G)
        match scale:
            case "group":
                divisor = spread_of(rewards_G) + STD_FLOOR
            case "batch":
                divisor = spread_of([each for each in rewards_B if each is not None]) + STD_FLOOR
            case "none":
                divisor = 1.0
        for row, reward in zip(rows_G, rewards_G, strict=True):
            advantages_B[row] = max(-most, min(most, (reward - mean) / divisor))
    return advantages_B


def spread_of(rewards_G: Sequence[float]) -> float:
    if len(rewards_G) < 2:
        return 0.0
    mean = math.fsum(rewards_G) / len(rewards_G)
    return math.sqrt(math.fsum((reward - mean) ** 2 for reward in rewards_G) / (len(rewards_G) - 1))
