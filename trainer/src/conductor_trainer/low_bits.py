"""Weights in 4 bits and optimizer moments in 8, by bitsandbytes: an extra that is not always there.

Only learning uses them. Probes and scores compute with the weights that policy servers have.
"""

from importlib.util import find_spec
from math import ceil
from typing import Any

import torch
from torch import nn
from transformers import BitsAndBytesConfig

from conductor_trainer.contract import Config
from conductor_trainer.errors import BadRequest

_ROWS_OF_SCALES = 256
BYTES_IN_4_BITS = 1 / 2 + 1 / 64 + 4 / (64 * _ROWS_OF_SCALES)
"""Bytes of a weight: a scale of 8 bits for each 64 of them, and one of 32 bits for 256 scales."""

_LEAST_IN_8_BITS = 4096
"""Weights of a tensor whose moments bitsandbytes keeps in 8 bits; smaller ones keep 32."""

_MOMENTS_PER_SCALE = 256
_FLOAT = 4


def has_4_bits(config: Config) -> bool:
    return "quantize" in config["tuning"]


def has_8_bit_moments(config: Config) -> bool:
    return config["optimizer"].get("name") == "adamw8bit"


def require_bitsandbytes(config: Config) -> None:
    """Raises `BadRequest` if the settings need bitsandbytes and it is not installed."""
    asked = {
        "`tuning.quantize: 4bit`": has_4_bits(config),
        "`optimizer.name: adamw8bit`": has_8_bit_moments(config),
    }
    needing = [setting for setting, is_set in asked.items() if is_set]
    if needing and find_spec("bitsandbytes") is None:
        raise BadRequest(
            f"{' and '.join(needing)} in `training.trainer` needs bitsandbytes, which the trainer's "
            'Python does not have: install "temporal-conductor-trainer[bitsandbytes]" there, or '
            "leave the setting out."
        )


def loading_in_4_bits(dtype: torch.dtype, device: str) -> dict[str, Any]:
    """Returns arguments of `from_pretrained` for QLoRA's base model (arXiv 2305.14314, section 3).

    NF4 with quantized scales; arithmetic is in `dtype`. Output and embedding keep `dtype`, too.
    """
    quantization = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=dtype,
    )
    # Otherwise it takes a GPU where there is one.
    return {
        "quantization_config": quantization,
        "device_map": {"": "cpu" if device == "cpu" else 0},
    }


def matrices_in_4_bits(model: nn.Module) -> list[nn.Parameter]:
    """Returns the weights of a model that loading in 4 bits quantizes: of all linear layers."""
    head: Any = model
    output = head.get_output_embeddings()
    linear = (each for each in model.modules() if isinstance(each, nn.Linear))
    return [each.weight for each in linear if each is not output]


def bytes_of_8_bit_moments(model: nn.Module) -> int:
    """Returns the bytes of both moments of all weights that learn; the library spares embeddings."""
    embeddings = {id(each.weight) for each in model.modules() if isinstance(each, nn.Embedding)}
    return sum(
        2 * (size + _FLOAT * ceil(size / _MOMENTS_PER_SCALE))
        if size >= _LEAST_IN_8_BITS and id(weight) not in embeddings
        else 2 * _FLOAT * size
        for weight in model.parameters()
        if weight.requires_grad
        for size in (weight.numel(),)
    )
