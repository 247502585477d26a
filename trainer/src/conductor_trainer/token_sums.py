"""Sums, over a batch's tokens, how far the policy is from the sampler and how far it moved."""

from collections.abc import Sequence

import torch

from conductor_trainer.contract import JsonObject
from conductor_trainer.tensors import Tensors

Sums = dict[str, float]
"""Sums over `tokens`, and `largest_gap`, the largest distance of one token from the sampler."""


def sums_of(
    batch: Tensors, logprobs_BC: torch.Tensor, entropies_BC: torch.Tensor, loss: JsonObject
) -> Sums:
    """Sums one pass. `clipped` counts tokens whose gradient the loss's clip range removes."""
    is_token_BC = batch["completion_mask"].bool()

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
