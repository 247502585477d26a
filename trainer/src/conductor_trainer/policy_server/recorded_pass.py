"""A model's pass over one token a row, recorded once on a GPU and played again for each token.

A small model's pass is hundreds of short computations, and to start them takes longer than they do.
"""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import torch
from transformers import DynamicCache, PreTrainedModel, StaticCache
from transformers.cache_utils import StaticLayer

_ROUNDED_TO = 64
"""Tokens: requests of about a length share a recording."""


class RecordedPass:
    """A CUDA graph (https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs)."""

    def __init__(self, model: PreTrainedModel, rows: int, tokens: int) -> None:
        """`rows` have room for `tokens` each, those of the prompt included."""
        self.rows, self.tokens = rows, tokens
        self._cache = StaticCache(config=model.config, max_cache_len=tokens)
        self._ids_N1 = torch.zeros((rows, 1), dtype=torch.long, device=model.device)
        self._graph = torch.cuda.CUDAGraph()
        # The first pass also chooses kernels, which CUDA refuses to record.
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            self._read(model)
        torch.cuda.current_stream().wait_stream(aside)
        with torch.cuda.graph(self._graph):
            self._logits_NV = self._read(model)

    def _read(self, model: Any) -> torch.Tensor:
        out = model(input_ids=self._ids_N1, past_key_values=self._cache, use_cache=True)
        return out.logits[:, -1].float()

    def begin(self, prompt: DynamicCache) -> Callable[[torch.Tensor], torch.Tensor]:
        """Shares a prompt's keys and values out; what is returned reads a token a row after it."""
        own: Any = self._cache.layers
        given: Any = prompt.layers
        for mine, read in zip(own, given, strict=True):
            length = read.keys.shape[-2]
            mine.keys[:, :, :length] = read.keys
            mine.values[:, :, :length] = read.values
            mine.cumulative_length.fill_(length)
        return self._play

    def _play(self, ids_N1: torch.Tensor) -> torch.Tensor:
        self._ids_N1.copy_(ids_N1)
        self._graph.replay()
        return self._logits_NV


_passes: WeakKeyDictionary[PreTrainedModel, RecordedPass] = WeakKeyDictionary()


def find_pass(model: PreTrainedModel, *, rows: int, tokens: int) -> RecordedPass | None:
    """The last one of this model, if it has as many rows and about as much room; else a new one.

    None on a CPU, and for models whose layers do not keep all keys and values, as those that look
    at a window: their caches count in Python, which a graph does not play again.
    """
    if model.device.type != "cuda":
        return None
    tokens = -(-tokens // _ROUNDED_TO) * _ROUNDED_TO
    known = _passes.get(model)
    if known is not None and (known.rows, known.tokens) == (rows, tokens):
        return known
    layers = StaticCache(config=model.config, max_cache_len=1).layers
    if not all(type(layer) is StaticLayer for layer in layers):
        return None
    # Frees the memory of the one before.
    _passes.pop(model, None)
    _passes[model] = made = RecordedPass(model, rows, tokens)
    return made
