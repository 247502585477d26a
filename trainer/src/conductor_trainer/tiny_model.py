"""A policy small enough to be trained on a CPU within minutes: Qwen2 in miniature, random."""

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer
from transformers.models.qwen2.tokenization_qwen2 import PRETOKENIZE_REGEX

from conductor_trainer.contract import JsonObject
from conductor_trainer.model import CHATML_TEMPLATE, END_OF_TEXT, END_OF_TURN, START_OF_TURN


def build_tiny(base: JsonObject, texts: Sequence[str], seed: int, folder: Path) -> None:
    tokenizer = train_tokenizer(texts, base["vocabulary"])
    tokenizer.save_pretrained(folder)
    vocabulary = tokenizer.get_vocab()
    torch.manual_seed(seed)
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(vocabulary),
            hidden_size=base["hidden"],
            num_hidden_layers=base["layers"],
            num_attention_heads=base["heads"],
            num_key_value_heads=base["keyValueHeads"],
            intermediate_size=base["feedForward"],
            max_position_embeddings=base["maxPositions"],
            initializer_range=base["initializerRange"],
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=vocabulary[END_OF_TURN],
            pad_token_id=vocabulary[END_OF_TEXT],
        )
    )
    model.save_pretrained(folder)


def train_tokenizer(texts: Sequence[str], vocabulary: int) -> Qwen2Tokenizer:
    """Byte-level BPE with Qwen2's own splitting, of at most `vocabulary` entries.

    Loaders of a `qwen2` folder always put this pipeline around its entries, and silently replace
    a tokenizer of another kind.
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
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END_OF_TEXT, START_OF_TURN, END_OF_TURN],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(texts, trainer)
    trained = json.loads(raw.to_str())["model"]
    tokenizer = Qwen2Tokenizer(
        vocab=trained["vocab"],
        # Declared as texts, but read as pairs.
        merges=[(left, right) for left, right in trained["merges"]],  # pyright: ignore[reportArgumentType]
        eos_token=END_OF_TURN,
        pad_token=END_OF_TEXT,
        additional_special_tokens=[START_OF_TURN, END_OF_TURN],
    )
    tokenizer.chat_template = CHATML_TEMPLATE
    return tokenizer
