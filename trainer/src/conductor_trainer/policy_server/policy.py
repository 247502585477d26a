"""One policy in memory: weights, tokenizer, and what ends a reply."""

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

END_OF_TURN = "<|im_end|>"
"""Ends a turn of ChatML, in which prompts are written."""


@dataclass(frozen=True)
class Policy:
    """What a reply is sampled from."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    end_ids: frozenset[int]
    max_positions: int
    """Tokens that prompt and reply may have together."""


def load_policy(folder: Path) -> Policy:
    """Loads a folder with a whole model, or with a LoRA adapter that names its base model."""
    is_adapter = (folder / "adapter_config.json").exists()
    model = _load_adapter(folder) if is_adapter else _load_model(folder)
    tokenizer = AutoTokenizer.from_pretrained(
        folder if _has_tokenizer(folder) else model.name_or_path
    )
    return Policy(
        model.eval(), tokenizer, _end_ids(model, tokenizer), model.config.max_position_embeddings
    )


def _load_model(folder: Path | str) -> PreTrainedModel:
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)


def _load_adapter(folder: Path) -> PreTrainedModel:
    # Only who serves adapters pays for the import.
    from peft import PeftModel

    config = json.loads((folder / "adapter_config.json").read_text())
    adapted = PeftModel.from_pretrained(_load_model(config["base_model_name_or_path"]), folder)
    return adapted.merge_and_unload()


def _has_tokenizer(folder: Path) -> bool:
    return (folder / "tokenizer_config.json").exists()


def _end_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    named = model.generation_config.eos_token_id if model.generation_config else None
    ids = [*named] if isinstance(named, list) else [named, tokenizer.eos_token_id]
    ids.append(tokenizer.get_vocab().get(END_OF_TURN))
    return frozenset(each for each in ids if isinstance(each, int))
