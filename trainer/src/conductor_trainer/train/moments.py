"""Gradient moments on disk, as safetensors: each process writes its part, and reads what it needs.

Nothing is gathered, since the moments of all weights are twice the size of a model in float32, and
no process waits for another one's disk. Any number of processes can read them again.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.distributed.checkpoint.hf_storage import (
    HuggingFaceStorageReader,
    HuggingFaceStorageWriter,
)
from torch.distributed.checkpoint.state_dict import (
    get_optimizer_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

BYTES_AT_ONCE = 4_000_000_000
"""Bytes that all processes together copy to host memory, and then write, at a time."""

_CODEBOOKS = ("qmap1", "qmap2")
"""What each of the 256 values of a moment in 8 bits stands for: one constant for all weights."""


def save_moments(model: Any, optimizer: Any, folder: Path) -> None:
    """Saves the moments of all weights. All processes must call it together."""
    moments = _moments_in(get_optimizer_state_dict(model, optimizer))
    written, part_of = 0, {}
    for name, moment in moments.items():
        part_of[name] = 1 + written // BYTES_AT_ONCE
        written += moment.numel() * moment.element_size()
    writer = HuggingFaceStorageWriter(str(folder), part_of, save_distributed=True)
    with warnings.catch_warnings(action="ignore"):
        save({**moments}, storage_writer=writer)


def load_moments(model: Any, optimizer: Any, folder: Path) -> None:
    """Restores the moments; settings such as the learning rate stay as they are."""
    state: Any = get_optimizer_state_dict(model, optimizer)
    moments = _moments_in(state)
    with warnings.catch_warnings(action="ignore"):
        # Reads into the tensors of `state`.
        load({**moments}, storage_reader=HuggingFaceStorageReader(str(folder)))
    for weight, own in state["state"].items():
        for kind, moment in own.items():
            if isinstance(moment, int):
                own[kind] = int(moments[f"{weight}.{kind}"])
    set_optimizer_state_dict(model, optimizer, state)


def _moments_in(state: Any) -> dict[str, torch.Tensor]:
    """Names each moment by its weight, so that it is found again, however weights are shared."""
    return dict(
        named for weight, moments in state["state"].items() for named in _named(weight, moments)
    )


def _named(name: str, moment: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields tensors alone: bitsandbytes also keeps plain counters, and groups of tensors."""
    if isinstance(moment, dict):
        for kind, each in moment.items():
            if kind not in _CODEBOOKS:
                yield from _named(f"{name}.{kind}", each)
    else:
        yield name, moment if isinstance(moment, torch.Tensor) else torch.tensor(moment)
