"""Policies in memory: loaded from a checkpoint, made trainable, saved again."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Literal

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from conductor_trainer.checkpoint import Record
from conductor_trainer.errors import BadRequest, ModelInvalid
from conductor_trainer.requests import Config, Tuning

Policy = PreTrainedModel | PeftModel
Kind = Literal["model", "adapter"]

TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.json",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
)

ROUND_TRIPS = (
    'model_id = [1, 0]\nsubtasks = ["Plan the steps.", "Solve it."]\naccess_list = [[], ["all"]]',
    "Größe: 3 × 4 = 12, done.",
)


def kind_of(tuning: Tuning) -> Kind:
    return "adapter" if tuning["kind"] == "lora" else "model"


def load_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """Raises ModelInvalid where text does not come back as it went in: then every reward would be 0, and nobody told."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError) as cause:
        raise ModelInvalid(f"There is no tokenizer in {folder}: {cause}") from cause
    for text in ROUND_TRIPS:
        returned = tokenizer.decode(tokenizer.encode(text, add_special_tokens=False))
        if returned != text:
            raise ModelInvalid(
                f"The tokenizer in {folder} gives back {returned!r} for {text!r}. Use the tokenizer that the model was "
                "made with."
            )
    return tokenizer


def load_model(folder: Path, dtype: torch.dtype = torch.float32) -> PreTrainedModel:
    try:
        return AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
    except (OSError, ValueError) as cause:
        raise ModelInvalid(f"There is no model in {folder} that can be loaded: {cause}") from cause


def load_policy(root: Path, record: Record, config: Config) -> Policy:
    """Everything that the settings train is trainable, in float32 whatever the precision of the arithmetic."""
    tuning = config["tuning"]
    if tuning["kind"] == "full":
        if record.kind == "adapter":
            raise BadRequest(
                "The checkpoint to go on from is an adapter, but `tuning` is `full`. Export it, and begin a training "
                "run with the exported folder, or set `tuning` to `lora`."
            )
        return load_model(root / record.folder)
    is_half = config["precision"] == "bfloat16"
    base = load_model(root / record.base, torch.bfloat16 if is_half else torch.float32)
    return PeftModel.from_pretrained(base, root / record.folder, is_trainable=True)


def add_adapter(model: PreTrainedModel, tuning: Tuning, seed: int) -> PeftModel:
    """A LoRA adapter (arXiv 2106.09685) that changes nothing yet."""
    torch.manual_seed(seed)
    return get_peft_model(
        model,
        LoraConfig(
            task_type="CAUSAL_LM",
            r=tuning.get("rank", 0),
            lora_alpha=tuning.get("alpha", 0),
            target_modules=tuning.get("targets"),
            lora_dropout=0.0,
        ),
    )


def save_policy(policy: Policy, base: Path, tokenizer_from: Path, folder: Path) -> None:
    """The tokenizer's files are copied, never written anew: its bytes are part of a checkpoint's identity."""
    if isinstance(policy, PeftModel):
        policy.peft_config["default"].base_model_name_or_path = str(base)
        policy.save_pretrained(folder, save_embedding_layers=False)
        (folder / "README.md").unlink(missing_ok=True)
    else:
        policy.save_pretrained(folder)
    copy_tokenizer(tokenizer_from, folder)


def copy_tokenizer(source: Path, target: Path) -> None:
    for name in TOKENIZER_FILES:
        if (source / name).exists():
            shutil.copyfile(source / name, target / name)


def tokenizer_sha256(folder: Path) -> str:
    return hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()
