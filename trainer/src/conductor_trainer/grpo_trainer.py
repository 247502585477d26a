"""TRL's GRPO with rollouts that were made elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from datasets import Dataset
from transformers import (
    PreTrainedModel,
    PrinterCallback,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)
from trl import GRPOTrainer
from trl.trainer.utils import add_fused_lm_head

from conductor_trainer.errors import NonFiniteLoss

Tensors = dict[str, torch.Tensor]


@dataclass
class TokenSums:
    """Sums over the completion tokens of the forward passes of an update."""

    tokens: float = 0.0
    ratio: float = 0.0
    clipped: float = 0.0
    k3: float = 0.0
    entropy: float = 0.0
    largest_gap: float = 0.0

    def mean(self, total: float) -> float:
        return total / max(self.tokens, 1.0)


class ExternalGRPOTrainer(GRPOTrainer):
    """Takes one scored batch instead of generating it; loss, clipping, optimizer and schedule stay TRL's.

    The hook is private in TRL 1.16: a test holds it to the shape that this class relies on. The denominator of the ratio is
    the probability that the *sampler* gave each token, so that stale plans, and a server that computes in another precision,
    are clipped like any other difference of policies.
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
        super().__init__(
            # TRL wants prompts to count its steps by, and something that rewards; neither is ever looked at.
            train_dataset=Dataset.from_dict({"prompt": [""]}),
            reward_funcs=no_reward,
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
        self.first_pass = TokenSums()
        self.all_passes = TokenSums()
        self._first_step: int | None = None

    def _generate_and_score_completions(self, inputs: Any) -> Tensors:
        batch = {name: tensor.to(self.accelerator.device) for name, tensor in self._batch.items()}
        if self.beta != 0:
            batch["ref_per_token_logps"] = self._reference_logprobs(batch)
        return batch

    @torch.no_grad()
    def _reference_logprobs(self, batch: Tensors) -> torch.Tensor:
        """By the base model: a model of its own, or this one with its adapter switched off."""
        is_adapter = self._reference is None
        with self.model.disable_adapter() if is_adapter else nullcontext():
            logprobs_BC, _, _ = super()._get_per_token_logps_and_entropies(
                self.model if is_adapter else self._reference,
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
                f"The loss of optimizer step {self.state.global_step + 1} is {loss.item()}. Nothing was saved: lower the "
                "learning rate, or look at the log-probabilities of the batch."
            )
        self._count(inputs)
        return loss

    def _count(self, inputs: Tensors) -> None:
        logprobs_BC, entropies_BC, _ = self._scored
        if self._first_step is None:
            self._first_step = self.state.global_step
        self._add(self.all_passes, inputs, logprobs_BC.detach(), entropies_BC.detach())
        if self.state.global_step == self._first_step:
            self._add(self.first_pass, inputs, logprobs_BC.detach(), entropies_BC.detach())

    def _add(
        self,
        sums: TokenSums,
        inputs: Tensors,
        logprobs_BC: torch.Tensor,
        entropies_BC: torch.Tensor,
    ) -> None:
        is_token_BC = inputs["completion_mask"].bool()
        log_ratio_N = (logprobs_BC - inputs["old_per_token_logps"])[is_token_BC].double()
        advantages_N = inputs["advantages"][:, None].expand_as(logprobs_BC)[is_token_BC]
        ratio_N = log_ratio_N.exp()
        too_high_N = (ratio_N > 1 + self.epsilon_high) & (advantages_N > 0)
        too_low_N = (ratio_N < 1 - self.epsilon_low) & (advantages_N < 0)
        sums.tokens += ratio_N.numel()
        sums.ratio += ratio_N.sum().item()
        sums.clipped += (too_high_N | too_low_N).sum().item()
        # k3 of http://joschu.net/blog/kl-approx.html, for tokens drawn from the sampling policy.
        sums.k3 += (ratio_N - 1 - log_ratio_N).sum().item()
        sums.entropy += entropies_BC[is_token_BC].double().sum().item()
        if log_ratio_N.numel() > 0:
            sums.largest_gap = max(sums.largest_gap, log_ratio_N.abs().max().item())

    def _load_from_checkpoint(self, *args: Any, **kwargs: Any) -> None:
        """The policy was loaded from its own folder; `trainer/` has the rest of the state only."""


def no_reward(completions: Sequence[str], **_: Any) -> list[float]:
    return [0.0] * len(completions)


class StopAfter(TrainerCallback):
    """Ends training after this update's optimizer steps, while the schedule knows the steps of the whole run."""

    def __init__(self, step: int, report: Callable[[str], None]) -> None:
        self._step = step
        self._report = report

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        self._report(f"step {state.global_step} of {self._step}")
        if state.global_step >= self._step:
            control.should_training_stop = True
