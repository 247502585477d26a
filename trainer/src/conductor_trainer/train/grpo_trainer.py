"""TRL's GRPO on rollouts sampled elsewhere, with the loss normalised over all of them.

Differs from TRL 1.16 in five points, each of which a test compares with stock TRL:

1. The loss is divided by the tokens or rollouts of the whole batch. TRL takes the mean of the
   micro batches' means, so that a memory setting changes the objective: with one rollout per
   micro batch, its `bnpo` is `grpo`.
2. The ratio's denominator, the policy's own probability before the update, comes from the first
   pass over the batch if that precedes any step, and only with several minibatches from a pass of
   its own, as always in TRL. It is also the numerator of the importance weight.
3. The sampler's probabilities come with the batch, whichever server sampled. TRL corrects for
   them only if it called vLLM itself.
4. Each micro batch is padded to its own longest row. TRL pads to the batch's.
5. The entropy bonus is the mean over the tokens of the whole batch, for the same reason as 1.
"""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import PrinterCallback
from trl.trainer.grpo_trainer import GRPOTrainer

from conductor_trainer.checkpoint import MOMENTS_FOLDER
from conductor_trainer.contract import Config, JsonObject
from conductor_trainer.errors import NonFiniteLoss
from conductor_trainer.model import Policy
from conductor_trainer.train.grpo_config import StopAfter
from conductor_trainer.train.moments import load_moments, save_moments
from conductor_trainer.train.tensors import LEARNED, Sums, Tensors, sums_of, trim

_SCHEDULE_FILE = "scheduler.pt"


class ExternalGRPOTrainer(GRPOTrainer):
    """Trains on one scored batch. A test checks that TRL still has the private hooks used here."""

    def __init__(
        self,
        *,
        model: Policy,
        batch: Tensors,
        config: Config,
        reference: Callable[[], AbstractContextManager[Policy]],
        stop_after: int,
        report: Callable[[str], None],
        **kwargs: Any,
    ) -> None:
        """`reference` yields the policy to stay close to; it is called only for a KL term."""
        learned = [each for each in model.parameters() if each.requires_grad]
        exact = [each.data for each in learned]
        super().__init__(
            model=model,
            # TRL requires prompts and a reward function; neither affects training here.
            train_dataset=Dataset.from_dict({"prompt": [""]}),
            reward_funcs=lambda completions, **_: [0.0] * len(completions),
            callbacks=[StopAfter(stop_after, report)],
            **kwargs,
        )
        for weight, own in zip(learned, exact, strict=True):
            if weight.dtype != own.dtype:
                # TRL rounds an adapter of a quantized model to bfloat16: small steps are lost.
                weight.data = own
        self.remove_callback(PrinterCallback)
        self._batch = batch
        self._loss = config["loss"]
        # TRL's own reference would be the parent checkpoint.
        self.beta = self._loss["beta"]
        self._reference = reference
        # Makes TRL's loss read `importance_sampling_ratio`; no vLLM is called.
        self.use_vllm = self.vllm_importance_sampling_correction = True
        self._micro_batch: Tensors | None = None
        self.sums: list[Sums] = []
        """Sums of each pass over a micro batch; the first `micro_batches` precede a step on it."""
        self._minibatches = config["minibatches"]
        self.micro_batches = self._minibatches * self.args.gradient_accumulation_steps

    def _generate_and_score_completions(self, inputs: Any) -> Tensors:
        batch = {name: tensor.to(self.accelerator.device) for name, tensor in self._batch.items()}
        if self._minibatches > 1:
            # The first pass over all minibatches but the first comes after a step.
            own_BC = self._logprobs(self.model, batch)
            batch |= {"old_per_token_logps": own_BC}
            batch |= importance_weights(own_BC, batch, self._loss)
        if self.beta != 0:
            # Stays in memory only for this one pass.
            with self._reference() as reference:
                batch["ref_per_token_logps"] = self._logprobs(reference, batch)
        return batch

    @torch.no_grad()
    def _logprobs(self, policy: Any, batch: Tensors) -> torch.Tensor:
        """Returns the log-probabilities that a policy with a fused head gives to a batch."""
        logprobs_BC = torch.zeros_like(batch["sampling_per_token_logps"])
        rows = self.args.per_device_train_batch_size
        for start in range(0, len(logprobs_BC), rows):
            part = {name: each[start : start + rows] for name, each in batch.items() if each.ndim}
            trimmed = trim(part)
            found_BC, _, _ = super()._get_per_token_logps_and_entropies(
                policy,
                torch.cat([trimmed["prompt_ids"], trimmed["completion_ids"]], dim=1),
                torch.cat([trimmed["prompt_mask"], trimmed["completion_mask"]], dim=1),
                trimmed["completion_ids"].size(1),
            )
            logprobs_BC[start : start + rows, : found_BC.size(1)] = found_BC
        return logprobs_BC

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
        self._scored = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        batch = self._micro_batch
        if batch is not None and "old_per_token_logps" not in batch:
            # TRL reuses a batch's micro batches in all its steps, so this runs once for each.
            own_BC = self._scored[0].detach()
            batch["old_per_token_logps"] = own_BC
            batch |= importance_weights(own_BC, batch, self._loss)
        return self._scored

    def _compute_loss(self, model: Any, inputs: Tensors) -> torch.Tensor:
        # TRL passes the same dictionary again in the batch's next pass.
        inputs.update(trim(inputs))
        self._micro_batch = inputs
        policy_loss = super()._compute_loss(model, inputs) * self._share_of(inputs)
        loss = policy_loss - self._loss["entropy"] * self._entropy_of(inputs)
        if not math.isfinite(loss.item()):
            raise NonFiniteLoss(
                f"The loss of step {self.state.global_step + 1} is {loss.item()}. "
                "Nothing was saved: lower the learning rate, or check the batch's probabilities."
            )
        logprobs_BC, entropies_BC, _ = self._scored
        self.sums.append(sums_of(inputs, logprobs_BC.detach(), entropies_BC.detach(), self._loss))
        return loss

    def _share_of(self, micro_batch: Tensors) -> torch.Tensor | float:
        """Returns a factor that turns a micro batch's mean into its share of the minibatch's mean.

        Treats all minibatches as having equally many tokens and rollouts.
        """
        mask_BC = micro_batch[LEARNED]
        # TRL divides by the number of micro batches per step; processes average their gradients.
        parts = self.micro_batches * self.accelerator.num_processes
        match self.loss_type:
            case "dapo":
                # TRL already divides by the tokens of the whole batch.
                return 1.0
            case "bnpo":
                return mask_BC.sum() * parts / micro_batch["num_items_in_batch"].clamp(min=1)
            case _:
                return mask_BC.size(0) * parts / micro_batch["rollouts_in_batch"]

    def _entropy_of(self, micro_batch: Tensors) -> torch.Tensor:
        """Returns this micro batch's share of its minibatch's mean entropy per token."""
        _, entropies_BC, _ = self._scored
        entropy = (entropies_BC * micro_batch[LEARNED]).sum()
        # Processes average their gradients.
        parts = self.accelerator.num_processes * self._minibatches
        return entropy * parts / micro_batch["num_items_in_batch"].clamp(min=1)

    def _load_from_checkpoint(self, *args: Any, **kwargs: Any) -> None:
        """Does nothing: the policy is already loaded; `trainer/` holds only the other state."""

    def save_progress(self, folder: Path) -> None:
        """Saves the state, besides weights, that the next update resumes from.

        All processes must call it together: each writes its share of the moments and its random
        state, and the first the rest.
        """
        schedule: Any = self.lr_scheduler
        folder.mkdir(exist_ok=True)
        save_moments(*self._bare(), folder / MOMENTS_FOLDER)
        self._save_rng_state(str(folder))
        if self.is_world_process_zero():
            self.state.log_history = []
            torch.save(schedule.state_dict(), folder / _SCHEDULE_FILE)
            self.state.save_to_json(str(folder / "trainer_state.json"))

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        """Restores the parent's gradient moments and position in the schedule.

        Learning rates and other settings come from the request: a plain load would silently restore
        the old ones. Only the newest checkpoint has moments; from an older one they start at 0.
        """
        if checkpoint is None:
            return
        schedule: Any = self.lr_scheduler
        folder = Path(checkpoint)
        model, optimizer = self._bare()
        settings = [dict(group) for group in optimizer.param_groups]
        if (folder / MOMENTS_FOLDER).is_dir():
            load_moments(model, optimizer, folder / MOMENTS_FOLDER)
        place = torch.load(folder / _SCHEDULE_FILE, weights_only=True)
        schedule.load_state_dict({**place, "base_lrs": schedule.base_lrs})
        shares = [share(schedule.last_epoch) for share in schedule.lr_lambdas]
        rates = [peak * share for peak, share in zip(schedule.base_lrs, shares, strict=True)]
        schedule._last_lr = rates
        for group, now, rate in zip(optimizer.param_groups, settings, rates, strict=True):
            group.update({**now, "lr": rate})

    def _bare(self) -> tuple[Any, Any]:
        """Returns the model and the optimizer without accelerate's wrappers."""
        wrapped: Any = self.optimizer
        return self.accelerator.unwrap_model(self.model), wrapped.optimizer


def importance_weights(own_BC: torch.Tensor, batch: Tensors, loss: JsonObject) -> Tensors:
    """Returns the ratio of the policy's probability to the sampler's, per token or per reply.

    A weight over the limit becomes the limit or 0, as in TRL's `vllm_importance_sampling_mode`.
    """
    correction = loss["correction"]
    log_ratio_BC = (own_BC - batch["sampling_per_token_logps"]) * batch[LEARNED]
    if correction.startswith("sequence"):
        log_ratio_BC = log_ratio_BC.sum(-1, keepdim=True)
    weight_BC = log_ratio_BC.exp()
    is_limited_BC = weight_BC > loss["mostWeight"]
    if correction == "none":
        weight_BC, is_limited_BC = torch.ones_like(weight_BC), torch.zeros_like(is_limited_BC)
    elif correction.endswith("truncate"):
        weight_BC = weight_BC.clamp(max=loss["mostWeight"])
    else:
        weight_BC = weight_BC.masked_fill(is_limited_BC, 0.0)
    return {"importance_sampling_ratio": weight_BC, "is_limited": is_limited_BC}
