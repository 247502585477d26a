"""Sums, over a batch's tokens, how far the policy is from the sampler and how far it moved."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import torch

from conductor_trainer.contract import JsonObject
from conductor_trainer.tensors import Tensors


@dataclass
class TokenSums:
    tokens: float = 0.0
    ratio: float = 0.0
    k3: float = 0.0
    sampler_gap: float = 0.0
    policy_gap: float = 0.0
    clipped: float = 0.0
    weight: float = 0.0
    limited: float = 0.0
    entropy: float = 0.0
    largest_gap: float = 0.0

    def add(
        self,
        batch: Tensors,
        logprobs_BC: torch.Tensor,
        entropies_BC: torch.Tensor,
        loss: JsonObject,
    ) -> None:
        """Adds one pass. `clipped` counts tokens whose gradient the loss's clip range removes."""
        is_token_BC = batch["completion_mask"].bool()
        if not is_token_BC.any():
            return

        def log_ratio_to(name: str) -> torch.Tensor:
            return (logprobs_BC - batch[name]).double()

        off_sampler_N = log_ratio_to("sampling_per_token_logps")[is_token_BC]
        moved_BC = log_ratio_to("old_per_token_logps")
        moved_N = moved_BC[is_token_BC]
        advantage_N = batch["advantages"][:, None].expand_as(logprobs_BC)[is_token_BC]
        clipped_N = moved_N
        if loss["ratio"] == "sequence":
            sums_B1 = (moved_BC * is_token_BC).sum(-1, keepdim=True)
            means_B1 = sums_B1 / is_token_BC.sum(-1, keepdim=True).clamp(min=1)
            clipped_N = means_B1.expand_as(moved_BC)[is_token_BC]
        is_too_high_N = (clipped_N.exp() > 1 + loss["epsilonHigh"]) & (advantage_N > 0)
        is_too_low_N = (clipped_N.exp() < 1 - loss["epsilon"]) & (advantage_N < 0)
        self.tokens += off_sampler_N.numel()
        self.ratio += off_sampler_N.exp().sum().item()
        # Estimates KL(sampling || trained) without bias, and is never negative:
        # http://joschu.net/blog/kl-approx.html
        self.k3 += (off_sampler_N.exp() - 1 - off_sampler_N).sum().item()
        self.sampler_gap += off_sampler_N.abs().sum().item()
        self.policy_gap += moved_N.abs().sum().item()
        self.clipped += (is_too_high_N | is_too_low_N).sum().item()
        weight_BC = batch["importance_sampling_ratio"].expand_as(logprobs_BC)
        self.weight += weight_BC[is_token_BC].double().sum().item()
        self.limited += batch["is_limited"].expand_as(logprobs_BC)[is_token_BC].sum().item()
        self.entropy += entropies_BC[is_token_BC].double().sum().item()
        self.largest_gap = max(self.largest_gap, off_sampler_N.abs().max().item())

    def mean(self, total: float) -> float:
        return total / max(self.tokens, 1)


def add_up(parts: Sequence[TokenSums]) -> TokenSums:
    *sums, gaps = zip(*map(astuple, parts), strict=True)
    return TokenSums(*map(sum, sums), largest_gap=max(gaps))
