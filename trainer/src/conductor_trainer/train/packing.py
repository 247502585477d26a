"""Passes rows of different lengths through a model end to end, as one row without padding."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

PACKED_MODELS = ("gemma", "gemma3_text", "llama", "mistral", "qwen2", "qwen3")
"""Kinds of models that a test compares with passes of each row alone; others keep their padding."""

_BY_ROW = "by_row"


def pack(model: Any, bare: Any) -> Callable[..., Any]:
    """Returns a model's forward pass with TRL's head, which computes nothing for padding.

    Takes and returns what that pass does; tokens without attention get log-probabilities of 0.
    `bare` is the model without wrappers, which attends by row from now on.
    """
    settings = bare.config
    if settings.model_type not in PACKED_MODELS:
        return model
    if settings._attn_implementation != _BY_ROW:
        bare.set_attn_implementation(_BY_ROW)

    def forward(
        *, input_ids: torch.Tensor, attention_mask: torch.Tensor, labels: torch.Tensor, **given: Any
    ) -> Any:
        is_read_BT = attention_mask.bool()
        output = model(
            input_ids=input_ids[is_read_BT][None],
            position_ids=(is_read_BT.cumsum(1) - 1)[is_read_BT][None],
            # A row's first token belongs to its prompt, and so has no label.
            labels=labels[is_read_BT][None],
            row_lengths=is_read_BT.sum(1).tolist(),
            **given,
        )

        def unpack(values_1N: torch.Tensor) -> torch.Tensor:
            # The head leaves out the first token, which nothing predicts.
            values_N = torch.nn.functional.pad(values_1N[0], (1, 0))
            return values_N.new_zeros(is_read_BT.shape).masked_scatter(is_read_BT, values_N)[:, 1:]

        output.log_probs = unpack(output.log_probs)
        if output.entropy is not None:
            output.entropy = unpack(output.entropy)
        return output

    return forward


def _attend_by_row(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    row_lengths: Sequence[int] | None = None,
    sliding_window: int | None = None,
    **given: Any,
) -> tuple[torch.Tensor, None]:
    """Attends within each of the rows that lie end to end; without `row_lengths`, there is one.

    Needs no mask over all tokens, whose square would outgrow what padding takes.
    """
    rows = (each.split(row_lengths or each.size(2), dim=2) for each in (query, key, value))
    attended = []
    for queries, keys, values in zip(*rows, strict=True):
        mask = _window(queries, sliding_window) if attention_mask is None else attention_mask
        attended.append(sdpa_attention_forward(module, queries, keys, values, mask, **given)[0])
    return torch.cat(attended, dim=1), None


def _window(query: torch.Tensor, size: int | None) -> torch.Tensor | None:
    """Returns a mask of the `size` tokens up to each; None for all of them."""
    length = query.size(2)
    if size is None or length <= size:
        return None
    is_near_TT = torch.ones(length, length, dtype=torch.bool, device=query.device)
    return is_near_TT.tril().triu(1 - size)[None, None]


def _mask_padding(*, attention_mask: torch.Tensor | None, **given: Any) -> torch.Tensor | None:
    return None if attention_mask is None else sdpa_mask(attention_mask=attention_mask, **given)


AttentionInterface.register(_BY_ROW, _attend_by_row)
AttentionMaskInterface.register(_BY_ROW, _mask_padding)
