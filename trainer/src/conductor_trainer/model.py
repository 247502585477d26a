"""Loads, adapts and saves policies and their tokenizers."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import torch
import torch.distributed as dist
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.distributed.configuration_utils import DistributedConfig
from trl.trainer.utils import add_fused_lm_head

from conductor_trainer.checkpoint import Record
from conductor_trainer.contract import Config, JsonObject
from conductor_trainer.errors import BadRequest, ModelInvalid
from conductor_trainer.low_bits import has_4_bits
from conductor_trainer.weights import SAFELY, require_safetensors

Policy: TypeAlias = PreTrainedModel | PeftModel

_REFERENCE = "reference"
"""Name of a second adapter, beside `default`, which is trained."""

_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.json",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
)

_ROUND_TRIPS = (
    'model_id = [1, 0]\nsubtasks = ["Plan the steps.", "Solve it."]\naccess_list = [[], ["all"]]',
    "Größe: 3 < 4, so 12 %.",
)


def load_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """Raises `ModelInvalid` if loading fails, or text does not round-trip: rewards would be 0."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **SAFELY)
    except Exception as cause:  # Broken files make the library raise exceptions of any type.
        raise ModelInvalid(f"The tokenizer in {folder} cannot be loaded: {cause}") from cause
    for text in _ROUND_TRIPS:
        returned = tokenizer.decode(tokenizer.encode(text, add_special_tokens=False))
        if returned != text:
            raise ModelInvalid(
                f"The tokenizer in {folder} turns {text!r} into {returned!r}. Use the one that the "
                "model was made with."
            )
    return tokenizer


def pad_id_of(tokenizer: PreTrainedTokenizerBase) -> int:
    """Returns the id of the padding token. Raises `ModelInvalid` if the tokenizer has none."""
    if not isinstance(tokenizer.pad_token_id, int):
        raise ModelInvalid("The tokenizer has no padding token: set `pad_token` in its settings.")
    return tokenizer.pad_token_id


def load_model(folder: Path, dtype: torch.dtype = torch.float32, **options: Any) -> PreTrainedModel:
    """Raises `ModelInvalid` if the folder has no loadable model with safetensors weights."""
    with _reading(folder):
        return AutoModelForCausalLM.from_pretrained(
            folder, dtype=dtype, use_safetensors=True, **options, **SAFELY
        )


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Turns exceptions of libraries into `ModelInvalid`, since few of them name the folder."""
    require_safetensors(folder)
    try:
        yield
    except Exception as cause:
        raise ModelInvalid(f"The model in {folder} cannot be loaded: {cause}") from cause


def load_policy(root: Path, record: Record, config: Config, *, to_learn: bool = False) -> Policy:
    """Loads trained weights in float32 at any precision: bfloat16 would round small steps away.

    Processes that train together each load a share of the model (FSDP2), and a whole adapter.
    With `to_learn`, the settings' `quantize` holds, for which servers have other weights.
    """
    needed = "adapter" if config["tuning"]["kind"] == "lora" else "model"
    if record.kind != needed:
        raise BadRequest(
            f"The checkpoint to continue from is of kind {record.kind!r}, but the settings' "
            f"`tuning` needs {needed!r}. Set `tuning` back to what it was, or export the "
            "checkpoint and start a training run from the exported folder."
        )
    return load_weights(root / record.folder, root / record.base, config, to_learn=to_learn)


@contextmanager
def reference_for(
    policy: Policy, root: Path, record: Record, config: Config
) -> Iterator[PreTrainedModel | PeftModel]:
    """Yields another checkpoint of a run with TRL's head: as an adapter of the same base, or whole.

    The policy in training must not be used meanwhile. Its base has that head already.
    """
    if not isinstance(policy, PeftModel):
        whole: Any = load_policy(root, record, config)
        add_fused_lm_head(whole, temperature=config["temperature"])
        # A share of a model is on its device already, and cannot be moved.
        yield (whole if dist.is_initialized() else whole.to(policy.device)).eval()
        return
    is_training = policy.training
    with _reading(root / record.folder):
        policy.load_adapter(str(root / record.folder), _REFERENCE)
    policy.set_adapter(_REFERENCE)
    # Loading ends the training mode, in which TRL divides most losses by their micro batches, and
    # outside which bitsandbytes packs weights on a CPU for good, so that nothing can be learned.
    policy.train(is_training)
    try:
        yield policy
    finally:
        policy.set_adapter("default")
        policy.delete_adapter(_REFERENCE)


def load_weights(
    folder: Path, base_folder: Path, config: Config, *, to_learn: bool = False
) -> Policy:
    """Does what `load_policy` does, for weights that have no record yet."""
    if config["tuning"]["kind"] == "full":
        return load_model(folder, torch.float32, **_sharing(config))
    base = load_base(base_folder, config, to_learn=to_learn)
    return _load_adapter(base, folder, is_trainable=True)


def load_base(folder: Path, config: Config, *, to_learn: bool = False) -> PreTrainedModel:
    """Loads the model below an adapter in the precision of arithmetic, since it never changes."""
    dtype = torch.bfloat16 if config["precision"] == "bfloat16" else torch.float32
    if to_learn and has_4_bits(config):
        return load_model(folder, dtype, **_quantizing(config, dtype))
    return load_model(folder, dtype, **_sharing(config))


def _quantizing(config: Config, dtype: torch.dtype) -> dict[str, Any]:
    """Returns QLoRA's arguments (arXiv 2305.14314, section 3): NF4, and its scales quantized, too.

    Arithmetic is in `dtype`. Embedding and output keep it.
    """
    quantization = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=dtype,
    )
    # Otherwise it would take a GPU wherever there is one.
    place = "cpu" if config["device"] == "cpu" else 0
    return {"quantization_config": quantization, "device_map": {"": place}}


def shards_of(config: Config) -> int:
    """Returns the number of processes that share one copy of the model; all of them by default."""
    sizes: JsonObject = config.get("parallelism", {})
    return sizes.get("dpShardSize", config["processes"])


def _sharing(config: Config) -> dict[str, DistributedConfig]:
    if not dist.is_initialized():
        return {}
    shards = shards_of(config)
    shared = DistributedConfig(
        fsdp_size=shards,
        dp_replicate_size=dist.get_world_size() // shards,
        fsdp_cpu_offload=config["offload"],
        fsdp_mixed_precision=config["precision"] == "bfloat16",
    )
    return {"distributed_config": shared}


def _load_adapter(base: PreTrainedModel, folder: Path, *, is_trainable: bool) -> PeftModel:
    with _reading(folder):
        return PeftModel.from_pretrained(base, folder, is_trainable=is_trainable)


def load_merged(folder: Path) -> PreTrainedModel:
    """Loads, in float32, a whole model or an adapter merged into the base that it names."""
    settings = folder / "adapter_config.json"
    if not settings.exists():
        return load_model(folder)
    # Adapters of a training run name their base relative to their own folder.
    base = json.loads(settings.read_text())["base_model_name_or_path"]
    model = load_model(Path(os.path.normpath(folder / base)))
    return _load_adapter(model, folder, is_trainable=False).merge_and_unload()


@torch.no_grad()
def logprobs_of(policy: Policy, token_ids: Sequence[int], temperature: float = 1.0) -> list[float]:
    """Log-probability of each token but the first, given all before it."""
    if len(token_ids) < 2:
        return []
    ids_1T = torch.tensor([[*token_ids]], device=policy.device)
    whole: Any = policy.get_base_model() if isinstance(policy, PeftModel) else policy
    with _fused_head(whole, temperature):
        return policy(input_ids=ids_1T, labels=ids_1T, fused_lm_head=True).log_probs[0].tolist()


@contextmanager
def _fused_head(model: PreTrainedModel, temperature: float) -> Iterator[None]:
    """Gives a model TRL's head for a while, which never holds the logits of a whole text."""
    forward = vars(model).get("forward")
    add_fused_lm_head(model, temperature=temperature)
    try:
        yield
    finally:
        del model.forward
        if forward is not None:
            model.forward = forward


def add_adapter(model: PreTrainedModel, tuning: JsonObject, seed: int) -> PeftModel:
    """Adds a LoRA adapter (arXiv 2106.09685) that has no effect yet."""
    torch.manual_seed(seed)
    adapter = LoraConfig(
        task_type="CAUSAL_LM",
        r=tuning["rank"],
        lora_alpha=tuning["alpha"],
        target_modules=tuning["targets"],
        lora_dropout=0.0,
    )
    return get_peft_model(model, adapter)


def save_policy(
    policy: Policy,
    base: str,
    tokenizer_from: Path,
    folder: Path,
    state_dict: dict[str, Any] | None = None,
) -> None:
    """Saves a policy with an exact copy of its tokenizer; `base` is an adapter's base model.

    `state_dict` holds the weights of a whole model of which this process has only a shard.
    """
    if isinstance(policy, PeftModel):
        policy.peft_config["default"].base_model_name_or_path = base
        # The library would gather a shared base, too, and have all processes wait.
        learned = {name: each for name, each in policy.named_parameters() if each.requires_grad}
        policy.save_pretrained(str(folder), state_dict=learned, save_embedding_layers=False)
        (folder / "README.md").unlink(missing_ok=True)
    else:
        policy.save_pretrained(folder, state_dict=state_dict)
    copy_tokenizer(tokenizer_from, folder)


def copy_tokenizer(source: Path, target: Path) -> None:
    for name in _TOKENIZER_FILES:
        if (source / name).exists():
            shutil.copyfile(source / name, target / name)
