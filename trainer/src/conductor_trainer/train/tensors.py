"""Numbers of one update: rollouts as padded tensors, advantages, and sums over tokens."""

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Literal

import torch
import torch.distributed as dist
from trl.trainer.utils import pad

from conductor_trainer.batch import Row
from conductor_trainer.contract import Config, JsonObject

Tensors = dict[str, torch.Tensor]

Sums = dict[str, float]
"""Sums over `tokens`, and `largest_gap`, the largest distance of one token from the sampler."""

LEARNED = "tool_mask"
"""Marks the tokens to learn among those that are read: not padding, and not thoughts.

Its name is TRL's, where results of tools are read and not learned.
"""

STD_FLOOR = 1e-4
"""Added to the standard deviation, so that nearly equal rewards are not amplified; TRL's value."""


def rows_of(config: Config) -> int:
    """Rounds rollouts up to full micro batches for every process and minibatch, at least 2 rows."""
    together = config["microBatch"] * config["processes"] * config["minibatches"]
    return max(2, -(-config["rollouts"] // together) * together)


def share_of_rank(batch: Tensors) -> Tensors:
    """Returns this process's rows of the batch; counts over the whole batch stay."""
    if not dist.is_initialized():
        return batch
    return {
        name: tensor if tensor.ndim == 0 else tensor.chunk(dist.get_world_size())[dist.get_rank()]
        for name, tensor in batch.items()
    }


def to_tensors(rollouts: Sequence[Row], config: Config, pad_id: int) -> Tensors:
    """Returns B rows, filled up with empty ones; pads prompts left to P, completions right to C."""
    # Has one prompt token: a row of only padding has no token to attend to and yields NaN.
    empty: Row = {"groupId": "", "reward": None, "finishReason": "stop"}
    empty |= {"promptTokenIds": [pad_id], "completionTokenIds": [], "sampledLogprobs": []}
    rows_B = [*rollouts, *[empty] * (rows_of(config) - len(rollouts))]
    prompts_B = [torch.tensor(row["promptTokenIds"]) for row in rows_B]
    completions_B = [torch.tensor(row["completionTokenIds"], dtype=torch.long) for row in rows_B]
    sampled_B = [torch.tensor(row["sampledLogprobs"], dtype=torch.float) for row in rows_B]
    # TRL also excludes masked replies from attention. Thoughts stay there: plans come from them.
    keeps_cut = not config["loss"]["maskTruncated"]
    is_read_B = [keeps_cut or row["finishReason"] == "stop" for row in rows_B]
    read_B = [
        torch.full_like(ids, is_read) for ids, is_read in zip(completions_B, is_read_B, strict=True)
    ]
    learned_B = [read.clone() for read in read_B]
    for learned, row in zip(learned_B, rows_B, strict=True):
        learned[: row.get("thoughtTokens", 0)] = 0
    learned_BC = pad(learned_B)
    advantages_B = advantages_of(
        [row["reward"] for row in rows_B],
        [row["groupId"] for row in rows_B],
        config["scale"],
        config["maxAdvantage"] or math.inf,
        [row.get("outcome", row["reward"]) for row in rows_B],
    )
    return {
        "prompt_ids": pad(prompts_B, pad_id, "left"),
        "prompt_mask": pad([torch.ones_like(ids) for ids in prompts_B], 0, "left"),
        "completion_ids": pad(completions_B, pad_id),
        "completion_mask": pad(read_B),
        LEARNED: learned_BC,
        "sampling_per_token_logps": pad(sampled_B),
        "advantages": torch.tensor(advantages_B),
        "num_items_in_batch": learned_BC.sum(),
        "rollouts_in_batch": torch.tensor(len(rollouts)),
    }


_BY_PROMPT = ("prompt_ids", "prompt_mask")


def trim(batch: Tensors) -> Tensors:
    """Cuts off columns in which every row has padding; at least one of completions stays."""
    read_P, read_C = (batch[name].any(0).nonzero() for name in ("prompt_mask", "completion_mask"))
    begin, end = int(read_P.min()), int(read_C.max()) + 1 if len(read_C) else 1
    widest = batch["completion_mask"].size(1)

    def cut(name: str, tensor: torch.Tensor) -> torch.Tensor:
        if name in _BY_PROMPT:
            return tensor[:, begin:]
        # Weights of whole replies have one column, which stays.
        return tensor[:, :end] if tensor.ndim == 2 and tensor.size(1) == widest else tensor

    return {name: cut(name, tensor) for name, tensor in batch.items()}


def advantages_of(
    rewards_B: Sequence[float | None],
    group_ids_B: Sequence[str],
    scale: Literal["group", "batch", "none"],
    most: float = math.inf,
    outcomes_B: Sequence[float | None] | None = None,
) -> list[float]:
    """Compares each reward with the others of its group (arXiv 2402.03300, section 4.1).

    The baseline is the group's mean. `group` divides by the sample standard deviation of its
    outcomes (over n - 1, as in TRL), `batch` by that of all outcomes (arXiv 2508.08221), `none`
    does not divide (arXiv 2503.20783). Outcomes are the rewards but for cost and length, which so
    keep their size next to what an answer is worth. Where outcomes are equal, only those terms are
    left: they are divided by the batch's deviation, or by nothing if that is 0, too. A reward of
    None does not count in any of them and gets advantage 0. Advantages are clamped to between
    -`most` and `most`.
    """
    rows_of_group: defaultdict[str, list[tuple[int, float, float]]] = defaultdict(list)
    each_B = zip(rewards_B, group_ids_B, outcomes_B or rewards_B, strict=True)
    for row, (reward, group_id, outcome) in enumerate(each_B):
        if reward is not None:
            worth = reward if outcome is None else outcome
            rows_of_group[group_id].append((row, reward, worth))

    all_worths = [worth for rows_G in rows_of_group.values() for _, _, worth in rows_G]
    spread_of_batch = _spread_of(all_worths)
    advantages_B = [0.0] * len(rewards_B)
    for rows_G in rows_of_group.values():
        spread = _spread_of([worth for _, _, worth in rows_G]) if scale == "group" else 0.0
        spread = spread or spread_of_batch
        divisor = 1.0 if scale == "none" or spread == 0 else spread + STD_FLOOR
        mean = fmean(reward for _, reward, _ in rows_G)
        for row, reward, _ in rows_G:
            advantages_B[row] = max(-most, min(most, (reward - mean) / divisor))
    return advantages_B


def _spread_of(rewards_G: Sequence[float]) -> float:
    return stdev(rewards_G) if len(rewards_G) > 1 else 0.0


def sums_of(
    batch: Tensors, logprobs_BC: torch.Tensor, entropies_BC: torch.Tensor, loss: JsonObject
) -> Sums:
    """Sums how far the policy is from the sampler, and how far it moved, over one pass.

    `clipped` counts tokens whose gradient the loss's clip range removes.
    """
    is_token_BC = batch[LEARNED].bool()

    def of_tokens(values: torch.Tensor) -> torch.Tensor:
        return values.expand_as(logprobs_BC)[is_token_BC].double()

    off_sampler_N = of_tokens(logprobs_BC - batch["sampling_per_token_logps"])
    moved_BC = (logprobs_BC - batch["old_per_token_logps"]).double()
    clipped_BC = moved_BC
    if loss["ratio"] == "sequence":
        sums_B1 = (moved_BC * is_token_BC).sum(-1, keepdim=True)
        clipped_BC = sums_B1 / is_token_BC.sum(-1, keepdim=True).clamp(min=1)
    ratio_N = of_tokens(clipped_BC).exp()
    advantage_N = of_tokens(batch["advantages"][:, None])
    is_too_high_N = (ratio_N > 1 + loss["epsilonHigh"]) & (advantage_N > 0)
    is_too_low_N = (ratio_N < 1 - loss["epsilon"]) & (advantage_N < 0)
    sums_N = {
        "tokens": torch.ones_like(off_sampler_N),
        "ratio": off_sampler_N.exp(),
        # Estimates KL(sampling || trained) without bias, and is never negative:
        # http://joschu.net/blog/kl-approx.html
        "k3": off_sampler_N.exp() - 1 - off_sampler_N,
        "sampler_gap": off_sampler_N.abs(),
        "policy_gap": of_tokens(moved_BC).abs(),
        "clipped": is_too_high_N | is_too_low_N,
        "weight": of_tokens(batch["importance_sampling_ratio"]),
        "limited": of_tokens(batch["is_limited"]),
        "entropy": of_tokens(entropies_BC),
    }
    sums = {name: float(values_N.sum()) for name, values_N in sums_N.items()}
    return {**sums, "largest_gap": max(off_sampler_N.abs().tolist(), default=0.0)}


def add_up(parts: Sequence[Sums]) -> Sums:
    return {
        name: (max if name == "largest_gap" else sum)(part[name] for part in parts)
        for name in parts[0]
    }
