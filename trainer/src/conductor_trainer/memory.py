"""Whether a machine has the memory that a training run takes, reckoned before anything is paid.

Weights are counted on PyTorch's meta device, which holds none; the rest follows from the settings.
Activations are an estimate from the shape of a Llama-like layer; all else is counted.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from conductor_trainer.contract import Config
from conductor_trainer.errors import ModelInvalid, OutOfMemory
from conductor_trainer.machine import Machine, this_machine
from conductor_trainer.model import add_adapter
from conductor_trainer.weights import SAFELY

_FLOAT = 4
_HALF = 2
_MOMENTS = 2 * _FLOAT
"""Of AdamW, for each weight that is learned."""

_LOGITS_AT_ONCE = 32_768
"""TRL's loss takes so much of the vocabulary at a time."""

_MOST_PROCESSES = 64

_ADVISED = 0.9
"""How much of a GPU an advice may fill: memory comes in pieces, and activations are estimated."""

Bytes = Mapping[str, int]
"""What memory is for, in a person's words, and how much of it."""


@dataclass(frozen=True)
class Shape:
    """What a model's memory depends on."""

    weights: int
    learned: int
    """Of them, or of the adapter beside them."""
    layers: int
    layer: int
    """Weights of one layer."""
    hidden: int
    feed_forward: int
    vocabulary: int


def require_memory(model_folder: Path, config: Config, tokens: int | None = None) -> None:
    """Raises `OutOfMemory` with the arithmetic where training a model would not fit.

    `tokens` pass through the model at once in a warm start, whose logits are held whole.
    """
    explanation = explain_lack(shape_of(model_folder, config), config, this_machine(config), tokens)
    if explanation is not None:
        raise OutOfMemory(explanation)


def shape_of(model_folder: Path, config: Config) -> Shape:
    """Read from `config.json` alone. Raises `ModelInvalid` where there is none."""
    try:
        settings = AutoConfig.from_pretrained(model_folder, **SAFELY).get_text_config()
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(settings)
    except Exception as cause:  # Each library has exceptions of its own for broken files.
        raise ModelInvalid(
            f"{model_folder / 'config.json'} describes no model that can be trained: {cause}"
        ) from cause
    weights = learned = _count(model)
    layer = max(_count(each) for each in _layers_of(model))
    tuning = config["tuning"]
    if tuning["kind"] == "lora":
        with torch.device("meta"):
            adapted = add_adapter(model, tuning, config["seed"])
        learned = sum(each.numel() for each in adapted.parameters() if each.requires_grad)
    return Shape(
        weights=weights,
        learned=learned,
        layers=settings.num_hidden_layers,
        layer=layer,
        hidden=settings.hidden_size,
        feed_forward=getattr(settings, "intermediate_size", None) or 4 * settings.hidden_size,
        vocabulary=settings.vocab_size,
    )


def _layers_of(model: Any) -> Iterator[torch.nn.Module]:
    for module in model.modules():
        if isinstance(module, torch.nn.ModuleList):
            yield from module


def _count(module: torch.nn.Module) -> int:
    return sum(each.numel() for each in module.parameters())


def needed_by_process(shape: Shape, config: Config, tokens: int | None = None) -> Bytes:
    """What each process of a step holds where it computes, at the moment when that is most."""
    if tokens is None:
        tokens = config["microBatch"] * (config["maxPromptTokens"] + config["maxCompletionTokens"])
        scored = config["microBatch"] * config["maxCompletionTokens"]
        logits = 2 * _FLOAT * scored * min(shape.vocabulary, _LOGITS_AT_ONCE)
    else:
        # The library's loss has them in 32 bits as well, and their gradient.
        logits = (_width(config) + 2 * _FLOAT) * tokens * shape.vocabulary
    held = _resting(shape, config)
    at_work = {
        **held,
        "gradients": 0 if _is_offloaded(config) else _FLOAT * _share(shape, config),
        "copies to compute with": _copies(shape, config),
        "activations": _activations(shape, config, tokens),
        "logits": logits,
    }
    beside_reference = {**held, "the policy that beta pulls towards": _reference(shape, config)}
    return max(at_work, beside_reference, key=lambda each: sum(each.values()))


def needed_by_host(shape: Shape, config: Config) -> Bytes:
    """What all processes of a step on GPUs take of the machine's own memory together."""
    processes = config["processes"]
    resting = (2 * _FLOAT + _MOMENTS) * shape.weights if _is_offloaded(config) else 0
    # `init` loads it whole, and so does each process that does not share it out.
    copies = 1 if _is_shared(config) else processes
    return {
        "loading and saving the model": _FLOAT * shape.weights * copies,
        "weights, gradients and optimizer": resting,
        "the policy that beta pulls towards": processes * _reference(shape, config),
    }


def explain_lack(
    shape: Shape, config: Config, machine: Machine, tokens: int | None = None
) -> str | None:
    """Why a run does not fit into a machine, with the sums and what would; None where it does."""
    lack = _find_lack(shape, config, machine, tokens)
    if lack is None:
        return None
    advice = "; or ".join(_remedies(shape, config, machine, tokens)) or "a smaller base model"
    return f"{lack}. Nothing was bought. What helps: {advice}."


def _remedies(shape: Shape, config: Config, machine: Machine, tokens: int | None) -> Iterator[str]:
    """The smallest change of each kind that suffices, as is reckoned again."""
    more = range(config["processes"], _MOST_PROCESSES + 1)
    kinds: list[list[dict[str, Any]]] = [
        [{"microBatch": 1}],
        [{"processes": processes} for processes in more],
        [{"processes": processes, "offload": True} for processes in more],
        [{"tuning": {"kind": "lora"}}],
    ]
    for kind in kinds:
        for changes in kind:
            changed: Any = {**config, **changes}
            learned = shape.weights // 50 if "tuning" in changes else shape.learned
            changed_shape = replace(shape, learned=learned)
            enough = machine.with_gpus(changed["processes"], _ADVISED)
            if _find_lack(changed_shape, changed, enough, tokens) is None:
                said = (
                    f"training.trainer.{name}: {json.dumps(to)}" for name, to in changes.items()
                )
                yield " with ".join(said)
                break


def _find_lack(shape: Shape, config: Config, machine: Machine, tokens: int | None) -> str | None:
    processes, each = config["processes"], needed_by_process(shape, config, tokens)
    if config["device"] == "cpu":
        whole = {name: size * processes for name, size in each.items()}
        return _compare(f"Training on the CPU with processes: {processes}", whole, machine.host)
    if len(machine.gpus) < processes:
        return (
            f"training.trainer.processes is {processes}, each on a GPU of its own, and the "
            f"trainer's machine has {len(machine.gpus)}"
        )
    for number, gpu in enumerate(machine.gpus[:processes], start=1):
        taken = {**each, "other programs, such as vLLM": gpu.taken}
        lack = _compare(f"GPU {number} of {processes} in training", taken, gpu.total)
        if lack is not None:
            return lack
    return _compare(
        "Training's part in the machine's own memory", needed_by_host(shape, config), machine.host
    )


def _compare(what: str, parts: Bytes, total: int) -> str | None:
    needed = sum(parts.values())
    if needed <= total:
        return None
    sums = ", ".join(f"{_gb(size)} for {name}" for name, size in parts.items() if size > 0)
    return f"{what} takes {_gb(needed)} GB, and there are {_gb(total)}: {sums}"


def _gb(size: int) -> str:
    return f"{size / 1e9:.1f}" if size >= 5e7 else f"{size / 1e9:.2g}"


def _width(config: Config) -> int:
    return _HALF if config["precision"] == "bfloat16" else _FLOAT


def _is_shared(config: Config) -> bool:
    """Whole weights are, among processes; adapters are held by each."""
    return config["tuning"]["kind"] == "full" and config["processes"] > 1


def _is_offloaded(config: Config) -> bool:
    return config["offload"] and _is_shared(config)


def _share(shape: Shape, config: Config) -> int:
    """The weights that a process learns."""
    return -(-shape.learned // config["processes"]) if _is_shared(config) else shape.learned


def _resting(shape: Shape, config: Config) -> Bytes:
    if _is_offloaded(config):
        return {}
    learned = _share(shape, config)
    base = 0 if config["tuning"]["kind"] == "full" else _width(config) * shape.weights
    return {"weights": base + _FLOAT * learned, "optimizer": _MOMENTS * learned}


def _copies(shape: Shape, config: Config) -> int:
    """Beside resting weights: in half the width, or of those layers that are put together now."""
    if config["tuning"]["kind"] == "lora":
        return 0
    if not _is_shared(config):
        return _HALF * shape.weights if config["precision"] == "bfloat16" else 0
    outside = shape.weights - shape.layers * shape.layer
    together = min(shape.weights, outside + 2 * shape.layer)
    # With their gradients.
    return 2 * _width(config) * together


def _activations(shape: Shape, config: Config, tokens: int) -> int:
    """On a GPU layers keep their inputs alone, and compute the rest anew."""
    of_layer = _width(config) * tokens * (10 * shape.hidden + 4 * shape.feed_forward)
    if config["device"] == "cpu":
        return of_layer * (shape.layers + 1)
    return _FLOAT * tokens * shape.hidden * shape.layers + 2 * of_layer


def _reference(shape: Shape, config: Config) -> int:
    """It is loaded whole by each process, for one pass."""
    if config["loss"]["beta"] == 0:
        return 0
    is_full = config["tuning"]["kind"] == "full"
    return (_FLOAT if is_full else _width(config)) * shape.weights
