"""Samples replies from a policy, with the log-probability of every token."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal
from weakref import WeakKeyDictionary

import torch
from transformers import DynamicCache, PreTrainedModel, StaticCache
from transformers.cache_utils import StaticLayer

from conductor_trainer.policy_server.policy_cache import Policy

_ROUNDED_TO = 64
"""Multiple that token counts are rounded up to, so that similar requests share a recording."""


@dataclass(frozen=True)
class Reply:
    """Tokens of a reply, including the end token if `finish_reason` is `stop`."""

    token_ids: list[int]
    logprobs: list[float]
    """Log-probability per token at the sampling temperature (1 if greedy); none in greedy chats."""
    finish_reason: Literal["stop", "length"]


@torch.inference_mode()
def sample_replies(
    policy: Policy,
    prompt_T: Sequence[int],
    *,
    n: int,
    seed: int | None,
    temperature: float,
    max_tokens: int,
) -> list[Reply]:
    """Samples `n` replies at once; reads the prompt once, and copies its keys and values to each.

    Given a seed, the result depends only on arguments and weights: requests are never batched
    together, since the size of a batch changes the last bits of a sum.
    """
    device = policy.model.device
    chance = torch.Generator(device)
    chance.seed() if seed is None else chance.manual_seed(seed)
    ends = torch.tensor(sorted(policy.end_ids), device=device)
    cache = DynamicCache(config=policy.model.config)
    logits_1V = _read(policy, torch.tensor([list(prompt_T)], device=device), cache)
    recorded = find_pass(policy.model, rows=n, tokens=len(prompt_T) + max_tokens)
    if recorded is None:
        cache.batch_repeat_interleave(n)
        read_on = partial(_read, policy, cache=cache)
    else:
        read_on = recorded.begin(cache)
    logits_NV = logits_1V.expand(n, -1)
    tokens, logprobs = [], []
    is_over_N = torch.zeros(n, dtype=torch.bool, device=device)
    while True:
        token_N, logprob_N = _choose(logits_NV, temperature, chance)
        tokens.append(token_N)
        logprobs.append(logprob_N)
        is_over_N |= torch.isin(token_N, ends)
        if len(tokens) == max_tokens or bool(is_over_N.all()):
            break
        logits_NV = read_on(token_N[:, None])
    rows = zip(torch.stack(tokens, 1).tolist(), torch.stack(logprobs, 1).tolist(), strict=True)
    return [cut(ids, values, policy.end_ids) for ids, values in rows]


def _read(policy: Policy, ids_NT: torch.Tensor, cache: DynamicCache) -> torch.Tensor:
    out = policy.model(input_ids=ids_NT, past_key_values=cache, use_cache=True, logits_to_keep=1)
    return out.logits[:, -1].float()


def _choose(
    logits_NV: torch.Tensor, temperature: float, chance: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    logprobs_NV = torch.log_softmax(logits_NV / (temperature or 1.0), -1)
    if temperature == 0:
        token_N1 = logprobs_NV.argmax(-1, keepdim=True)
    else:
        token_N1 = _draw(logprobs_NV.exp(), chance)
    return token_N1[:, 0], logprobs_NV.gather(1, token_N1)[:, 0]


def _draw(shares_NV: torch.Tensor, chance: torch.Generator) -> torch.Tensor:
    """Draws a token per row from one random number; `torch.multinomial` needs `V` per row."""
    sums_NV = shares_NV.double().cumsum(-1)
    if not bool(sums_NV[:, -1].isfinite().all()):
        raise ValueError("The policy's probabilities are not finite numbers: load another one.")
    at_N1 = torch.rand_like(sums_NV[:, :1], generator=chance)
    return torch.searchsorted(sums_NV / sums_NV[:, -1:], at_N1, right=True)


def cut(ids: list[int], logprobs: list[float], end_ids: frozenset[int]) -> Reply:
    """Cuts a row after its first end token; later tokens only kept the batch rectangular."""
    for at, token in enumerate(ids):
        if token in end_ids:
            return Reply(ids[: at + 1], logprobs[: at + 1], "stop")
    return Reply(ids, logprobs, "length")


class RecordedPass:
    """A model's pass over one token per row, recorded on a GPU and replayed for each token.

    A small model's pass consists of hundreds of short kernels, which take longer to launch than to
    run: https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs
    """

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
