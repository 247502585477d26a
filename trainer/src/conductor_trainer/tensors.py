"""Rollouts as the padded tensors of one update."""

from collections.abc import Sequence

import torch

from conductor_trainer.advantages import advantages_of
from conductor_trainer.batch import Rollout
from conductor_trainer.contract import Config
from conductor_trainer.sharding import Rank

Tensors = dict[str, torch.Tensor]


def rows_of(config: Config) -> int:
    """Rows of every batch: whole micro batches of all processes, so that all have one shape."""
    together = config["microBatch"] * config["processes"]
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
    """What TRL's GRPO loss reads: B rows, prompts padded left to P, completions right to C.

    A batch that is shorter than the settings say is filled up with rows of which no token counts.
    """
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
