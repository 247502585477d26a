"""Counts the bytes of weights in 4 bits and of moments in 8, as bitsandbytes keeps them."""

from collections.abc import Sequence
from math import ceil
from typing import Any

from torch import nn

_FLOAT = 4

_BYTES_PER_WEIGHT = 1 / 2 + 1 / 64 + _FLOAT / (64 * 256)
"""With a scale of 8 bits for each 64 weights, and one of 32 bits for 256 scales."""

_LEAST_IN_8_BITS = 4096
"""Size of a tensor whose moments are kept in 8 bits; those of smaller ones keep 32."""

_MOMENTS_PER_SCALE = 256


def bytes_in_4_bits(weights: int) -> int:
    return ceil(_BYTES_PER_WEIGHT * weights)


def sizes_in_4_bits(model: nn.Module) -> Sequence[int]:
    """Counts the weights of each matrix that is quantized: of all linear layers but the output."""
    whole: Any = model
    output = whole.get_output_embeddings()
    linear = (each for each in model.modules() if isinstance(each, nn.Linear))
    return [each.weight.numel() for each in linear if each is not output]


def bytes_of_8_bit_moments(model: nn.Module) -> int:
    """Counts both moments of all weights that learn. Those of embeddings stay in 32 bits."""
    spared = {id(each.weight) for each in model.modules() if isinstance(each, nn.Embedding)}
    learned = [each for each in model.parameters() if each.requires_grad]
    return 2 * sum(
        each.numel() + _FLOAT * ceil(each.numel() / _MOMENTS_PER_SCALE)
        if each.numel() >= _LEAST_IN_8_BITS and id(each) not in spared
        else _FLOAT * each.numel()
        for each in learned
    )
