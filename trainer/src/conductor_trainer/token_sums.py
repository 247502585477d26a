"""How far the policy is from the one that sampled, summed up token by token."""

from dataclasses import dataclass

import torch

from conductor_trainer.tensors import Tensors


@dataclass(frozen=True)
class Clip:
    """Ratios outside of `1 - low` to `1 + high` teach no more where that would widen the gap."""

    low: float
    high: float


@dataclass
class TokenSums:
    """Sums over the completion tokens of one or more forward passes."""

    tokens: int = 0
    ratio: float = 0.0
    clipped: int = 0
    k3: float = 0.0
    entropy: float = 0.0
    largest_gap: float = 0.0

    def add(
        self, batch: Tensors, logprobs_BC: torch.Tensor, entropies_BC: torch.Tensor, clip: Clip
    ) -> None:
        """Counts one pass over a micro batch; `logprobs_BC` are the policy's."""
        is_token_BC = batch["completion_mask"].bool()
        if not is_token_BC.any():
            return
        log_ratio_N = (logprobs_BC - batch["old_per_token_logps"])[is_token_BC].double()
        advantage_N = batch["advantages"][:, None].expand_as(logprobs_BC)[is_token_BC]
        ratio_N = log_ratio_N.exp()
        is_too_high_N = (ratio_N > 1 + clip.high) & (advantage_N > 0)
        is_too_low_N = (ratio_N < 1 - clip.low) & (advantage_N < 0)
        self.tokens += ratio_N.numel()
        self.ratio += ratio_N.sum().item()
        self.clipped += int((is_too_high_N | is_too_low_N).sum().item())
        # Estimates KL(sampling || trained) without bias, and is never negative:
        # http://joschu.net/blog/kl-approx.html
        self.k3 += (ratio_N - 1 - log_ratio_N).sum().item()
        self.entropy += entropies_BC[is_token_BC].double().sum().item()
        self.largest_gap = max(self.largest_gap, log_ratio_N.abs().max().item())

    def mean(self, total: float) -> float:
        """A sum as a mean over the tokens."""
        return total / max(self.tokens, 1)
