"""A policy small enough to be trained on a CPU within minutes: Qwen2 in miniature, of random weights."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer
from transformers.models.qwen2.tokenization_qwen2 import PRETOKENIZE_REGEX

from conductor_trainer.chat import CHATML_TEMPLATE, END_OF_TEXT, END_OF_TURN, START_OF_TURN
from conductor_trainer.errors import BadRequest
from conductor_trainer.requests import TinyBase


def build_tiny(base: TinyBase, texts: list[str], seed: int, folder: Path) -> None:
    """Saves model and tokenizer as any Hugging Face model is saved."""
    tokenizer = train_tokenizer(texts, base["vocabulary"])
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=base["hidden"],
            num_hidden_layers=base["layers"],
            num_attention_heads=base["heads"],
            num_key_value_heads=base["keyValueHeads"],
            intermediate_size=base["feedForward"],
            max_position_embeddings=base["maxPositions"],
            initializer_range=base["initializerRange"],
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    model.save_pretrained(folder)


def train_tokenizer(texts: list[str], vocabulary: int) -> Qwen2Tokenizer:
    """Byte-level BPE with Qwen2's own splitting.

    A word-level tokenizer would be replaced silently by whoever loads a `qwen2` folder; this one stays what it is.
    """
    raw = Tokenizer(models.BPE())
    raw.normalizer = normalizers.NFC()
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PRETOKENIZE_REGEX), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    raw.decoder = decoders.ByteLevel()
    special = [END_OF_TEXT, START_OF_TURN, END_OF_TURN]
    raw.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=vocabulary,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    trained = json.loads(raw.to_str())["model"]
    tokenizer = Qwen2Tokenizer(
        vocab=trained["vocab"],
        merges=[(left, right) for left, right in trained["merges"]],
        eos_token=END_OF_TURN,
        pad_token=END_OF_TEXT,
        additional_special_tokens=[START_OF_TURN, END_OF_TURN],
    )
    tokenizer.chat_template = CHATML_TEMPLATE
    return tokenizer


def read_texts(path: Path) -> list[str]:
    """One JSON string a line."""
    texts = [json.loads(line) for line in path.read_text().splitlines() if line]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise BadRequest(
            f"The texts for the tokenizer must be JSON strings, one a line, got {len(texts)} lines."
        )
    return texts
