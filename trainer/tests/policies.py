"""Policies for tests: tiny ones, and the shape of a large one."""

from pathlib import Path

from transformers import Qwen2Config, Qwen3Config

from conductor_trainer.tiny_model import build_tiny

PROMPT = "<|im_start|>user\nHow much is 17 and 26 for this loop?<|im_end|>\n<|im_start|>assistant\n"

QWEN_7B = Qwen2Config(
    vocab_size=152_064,
    hidden_size=3584,
    num_hidden_layers=28,
    num_attention_heads=28,
    num_key_value_heads=4,
    intermediate_size=18_944,
)
"""Qwen2.5-7B's: 7.6 billion weights."""

QWEN_72B = Qwen2Config(
    vocab_size=152_064,
    hidden_size=8192,
    num_hidden_layers=80,
    num_attention_heads=64,
    num_key_value_heads=8,
    intermediate_size=29_568,
)
"""Qwen2.5-72B's: 72.7 billion weights."""

QWEN3_8B = Qwen3Config(
    vocab_size=151_936,
    hidden_size=4096,
    num_hidden_layers=36,
    num_attention_heads=32,
    num_key_value_heads=8,
    head_dim=128,
    intermediate_size=12_288,
)
"""Qwen3-8B's: 8.2 billion weights."""


def make_policy(folder: Path, *, seed: int) -> Path:
    """A whole model of random weights, with a tokenizer; 0.1 s."""
    base = {
        "kind": "tiny",
        "texts": {"key": "texts", "sha256": "0" * 64},
        "vocabulary": 320,
        "hidden": 32,
        "layers": 2,
        "heads": 4,
        "keyValueHeads": 2,
        "feedForward": 64,
        "maxPositions": 160,
        # Wide, so that replies differ and ends of turn come.
        "initializerRange": 0.5,
    }
    texts = [f"How much is {number} and {3 * number} for this loop?" for number in range(50)]
    build_tiny(base, texts, seed, folder)
    return folder
