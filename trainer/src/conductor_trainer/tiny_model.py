"""Builds tiny policies of random weights, with a tokenizer and a chat template of their own."""

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer

from conductor_trainer.contract import JsonObject

END_OF_TEXT = "<|endoftext|>"
START_OF_TURN = "<|im_start|>"
END_OF_TURN = "<|im_end|>"

_TEMPLATE = (
    "{% for message in messages %}"
    f"{START_OF_TURN}{{{{ message['role'] }}}}\n{{{{ message['content'] }}}}{END_OF_TURN}\n"
    "{% endfor %}"
    f"{{% if add_generation_prompt %}}{START_OF_TURN}assistant\n{{% endif %}}"
)
"""ChatML, the turns of Qwen's and SmolLM2's models."""


def build_tiny(base: JsonObject, texts: Sequence[str], seed: int, folder: Path) -> None:
    """Builds a small random Qwen2 policy that a CPU can train within minutes."""
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
    """Trains a byte-level BPE with Qwen2's own splitting and at most `vocabulary` entries.

    Loaders of a `qwen2` folder always apply this pipeline to its entries, and silently replace a
    tokenizer of another kind.
    """
    markers = [END_OF_TEXT, START_OF_TURN, END_OF_TURN]
    blank = Qwen2Tokenizer(
        vocab={marker: place for place, marker in enumerate(markers)},
        eos_token=END_OF_TURN,
        pad_token=END_OF_TEXT,
        additional_special_tokens=[START_OF_TURN, END_OF_TURN],
    )
    tokenizer = blank.train_new_from_iterator(texts, vocabulary, show_progress=False)
    tokenizer.chat_template = _TEMPLATE
    return tokenizer
