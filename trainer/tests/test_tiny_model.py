"""The tiny policy is what the usual loaders make of its folder."""

import hashlib
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from conductor_trainer.errors import ModelInvalid
from conductor_trainer.model import load_model, load_tokenizer
from conductor_trainer.tiny_model import (
    END_OF_TEXT,
    END_OF_TURN,
    START_OF_TURN,
    build_tiny,
    train_tokenizer,
)
from conductor_trainer.weights import weights_sha256
from tiny_run import TINY, TOPICS, prompt_of, reply_of

TEXTS = [prompt_of(topic) + reply_of(topic, n) for topic in TOPICS for n in range(4)]


def test_every_loader_gets_the_same_tokens(tmp_path: Path) -> None:
    trained = train_tokenizer(TEXTS, 320)
    build(tmp_path)
    by_model_type = load_tokenizer(tmp_path)
    by_file = PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    for text in (*TEXTS, "Größe\u00a0≠  e\u0301\n\n\t12345 <|im_end|>x"):
        ids = trained.encode(text, add_special_tokens=False)
        assert by_model_type.encode(text, add_special_tokens=False) == ids
        assert by_file.encode(text, add_special_tokens=False) == ids
    assert by_model_type.decode(trained.encode(TEXTS[0])) == TEXTS[0]


def build(folder: Path, seed: int = 1) -> str:
    build_tiny(TINY, TEXTS, seed, folder)
    return weights_sha256(folder)


def test_markers_are_single_tokens_and_end_what_they_should() -> None:
    tokenizer = train_tokenizer(TEXTS, 320)
    for marker in (END_OF_TEXT, START_OF_TURN, END_OF_TURN):
        assert len(tokenizer.encode(marker)) == 1
    assert tokenizer.eos_token == END_OF_TURN
    assert tokenizer.pad_token == END_OF_TEXT
    assert max(tokenizer.get_vocab().values()) + 1 == len(tokenizer) <= 320


def test_the_same_seed_builds_the_same_weights(tmp_path: Path) -> None:
    assert build(tmp_path / "a") == build(tmp_path / "b") != build(tmp_path / "c", seed=2)


def test_a_tokenizer_that_loses_text_is_refused(tmp_path: Path) -> None:
    build(tmp_path)
    by_words = Tokenizer(models.WordLevel({"[UNK]": 0, "Solve": 1, "it": 2}, unk_token="[UNK]"))
    by_words.pre_tokenizer = pre_tokenizers.Whitespace()
    by_words.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ModelInvalid):
        load_tokenizer(tmp_path)


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelInvalid, match=r"tokenizer in .* cannot be loaded"):
        load_tokenizer(tmp_path)
    with pytest.raises(ModelInvalid, match=r"model in .* cannot be loaded"):
        load_model(tmp_path)


def test_weights_are_told_by_names_types_and_bytes_and_not_by_files(tmp_path: Path) -> None:
    one, two, other = tmp_path / "one", tmp_path / "two", tmp_path / "other"
    tensors = {"b": torch.tensor([1.0, 2.0]), "a": torch.tensor([3], dtype=torch.int64)}
    for folder in (one, two, other):
        folder.mkdir()
    save_file(tensors, one / "model.safetensors")
    save_file({"a": tensors["a"]}, two / "model-1.safetensors")
    save_file({"b": tensors["b"]}, two / "model-2.safetensors", {"made": "elsewhere"})
    save_file({**tensors, "a": tensors["a"].double()}, other / "model.safetensors")

    by_hand = hashlib.sha256()
    by_hand.update(b"a\0I64\0" + (3).to_bytes(8, "little"))
    by_hand.update(b"b\0F32\0" + bytes.fromhex("0000803f00000040"))
    assert weights_sha256(one) == weights_sha256(two) == by_hand.hexdigest()
    assert weights_sha256(other) != weights_sha256(one)
