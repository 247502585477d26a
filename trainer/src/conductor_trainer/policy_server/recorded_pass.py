"""Records a model's pass over one token per row on a GPU, and replays it for each token.

A small model's pass consists of hundreds of short kernels, which take longer to launch than to run.
"""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import torch
from transformers import DynamicCache, PreTrainedModel, StaticCache
from transformers.cache_utils import StaticLayer

_ROUNDED_TO = 64
"""Multiple that token counts are rounded up to, so that similar requests share a recording."""


class RecordedPass:
    """CUDA graph of a pass (https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs)."""

    def __init__(self, model: PreTrainedModel, rows: int, tokens: int) -> None:
        """Each of the `rows` has room for `tokens`, those of the prompt included."""
        self.rows, self.tokens = rows, tokens
        self._cache = StaticCache(config=model.config, max_cache_len=tokens)
        self._ids_N1 = torch.zeros((rows, 1), dtype=torch.long, device=model.device)
        self._graph = torch.cuda.CUDAGraph()
        # The first pass also selects kernels, which CUDA does not allow in a recording.
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
        """Copies a prompt's cache to every row; returns a function that reads a token per row."""
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
    """Returns the model's last recording if its rows and rounded tokens match, else a new one.

    Returns None on a CPU, and for models whose layers do not keep all keys and values, such as
    those with a sliding window: their caches count in Python, which a graph does not replay.
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
    # Frees the memory of the previous recording.
    _passes.pop(model, None)
    _passes[model] = made = RecordedPass(model, rows, tokens)
    return made
