"""TRL's GRPO with rollouts that were made elsewhere, and how far the policy moved from them."""

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from datasets import Dataset
from transformers import PreTrainedModel, PrinterCallback
from trl.trainer.grpo_trainer import GRPOTrainer
from trl.trainer.utils import add_fused_lm_head

from conductor_trainer.errors import NonFiniteLoss
from conductor_trainer.grpo_config import StopAfter
from conductor_trainer.tensors import Tensors


class ExternalGRPOTrainer(GRPOTrainer):
    """Takes one scored batch instead of generating it; everything else stays TRL's.

    The hooks are private in TRL 1.16: a test holds TRL to the shape that this class relies on. The
    denominator of the ratio is the probability that the *sampler* gave each token, so that stale
    plans, and a server that computes in another precision, are clipped like any other difference
    between policies.
    """

    def __init__(
        self,
        *,
        batch: Tensors,
        beta: float,
        reference: PreTrainedModel | None,
        stop_after: int,
        report: Callable[[str], None],
        **kwargs: Any,
    ) -> None:
        """`reference`: the base model, for a KL term; None with an adapter that is switched off."""
        super().__init__(
            # TRL counts its steps by prompts, and requires rewards; neither is used.
            train_dataset=Dataset.from_dict({"prompt": [""]}),
            reward_funcs=_no_rewards,
            callbacks=[StopAfter(stop_after, report)],
            **kwargs,
        )
        self.remove_callback(PrinterCallback)
        self._batch = batch
        # TRL's own reference would be the parent checkpoint; the contract says: the base model.
        self.beta = beta
        self._reference = reference
        if reference is not None:
            add_fused_lm_head(reference.to(self.accelerator.device), temperature=self.temperature)
        self.first_step = TokenSums()
        """Before anything was learned from the batch."""
        self.all_steps = TokenSums()
        self._passes = 0

    def _generate_and_score_completions(self, inputs: Any) -> Tensors:
        batch = {name: tensor.to(self.accelerator.device) for name, tensor in self._batch.items()}
        if self.beta != 0:
            batch["ref_per_token_logps"] = self._reference_logprobs(batch)
        return batch

    @torch.no_grad()
    def _reference_logprobs(self, batch: Tensors) -> torch.Tensor:
        model: Any = self._reference or self.accelerator.unwrap_model(self.model)
        with model.disable_adapter() if self._reference is None else nullcontext():
            logprobs_BC, _, _ = super()._get_per_token_logps_and_entropies(
                model,
                torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1),
                torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1),
                batch["completion_ids"].size(1),
                batch_size=self.args.per_device_train_batch_size,
            )
        return logprobs_BC

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
        self._scored = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        return self._scored

    def _compute_loss(self, model: Any, inputs: Tensors) -> torch.Tensor:
        loss = super()._compute_loss(model, inputs)
        if not math.isfinite(loss.item()):
            raise NonFiniteLoss(
                f"The loss of step {self.state.global_step + 1} is {loss.item()}. "
                "Nothing was saved: lower the learning rate, or look at the batch's probabilities."
            )
        logprobs_BC, entropies_BC, _ = self._scored
        clip = Clip(self.epsilon_low, self.epsilon_high)
        self.all_steps.add(inputs, logprobs_BC.detach(), entropies_BC.detach(), clip)
        if self._passes < self.args.gradient_accumulation_steps:
            self.first_step.add(inputs, logprobs_BC.detach(), entropies_BC.detach(), clip)
        self._passes += 1
        return loss

    def _load_from_checkpoint(self, *args: Any, **kwargs: Any) -> None:
        """The policy has its own folder; `trainer/` holds only the rest of the state."""

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        """The moments of the gradients are the parent's; rates and other settings the request's.

        Loaded as it is, the state would silently restore the old settings.
        """
        optimizer: Any = self.optimizer
        schedule: Any = self.lr_scheduler
        settings = [
            {name: value for name, value in group.items() if name != "params"}
            for group in optimizer.param_groups
        ]
        peak_rates = schedule.base_lrs
        super()._load_optimizer_and_scheduler(checkpoint)
        shares = [share(schedule.last_epoch) for share in schedule.lr_lambdas]
        rates = [peak * share for peak, share in zip(peak_rates, shares, strict=True)]
        schedule.base_lrs, schedule._last_lr = peak_rates, rates
        for group, now, rate in zip(optimizer.param_groups, settings, rates, strict=True):
            group.update({**now, "lr": rate})


def _no_rewards(completions: Sequence[str], **_: Any) -> list[float | None]:
    return [0.0] * len(completions)


@dataclass(frozen=True)
class Clip:
    """Ratios outside `1 - low` to `1 + high` stop counting where that would widen the gap."""

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
