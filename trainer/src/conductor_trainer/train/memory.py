"""Estimates, before anything is paid for, whether a machine has enough memory for training.

Counts weights on PyTorch's meta device, and estimates activations from a Llama-like layer.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM
from trl.kernels.chunked_logprob import TOKEN_CHUNK_SIZE

from conductor_trainer.contract import Config
from conductor_trainer.errors import ModelInvalid, OutOfMemory
from conductor_trainer.low_bits import has_4_bits, has_8_bit_moments
from conductor_trainer.model import add_adapter, shards_of
from conductor_trainer.train.low_bit_sizes import (
    bytes_in_4_bits,
    bytes_of_8_bit_moments,
    sizes_in_4_bits,
)
from conductor_trainer.train.moments import BYTES_AT_ONCE
from conductor_trainer.train.nodes import processes_here
from conductor_trainer.weights import SAFELY

_FLOAT = 4
_HALF = 2
_MOMENTS = 2 * _FLOAT

LOGITS_AT_ONCE = 32_768
"""Vocabulary entries that TRL's head processes at a time; its buffer is never smaller."""

TOKENS_AT_ONCE = TOKEN_CHUNK_SIZE
"""Tokens that it processes at a time."""

_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Memory limit of a container, in version 2 and version 1 of Linux's control groups."""

_ADVICE = (
    "Nothing was paid for. What helps, in `training.trainer`: `microBatch: 1`; more `processes`, "
    "each on its own GPU; with them `offload: true`; `tuning: { kind: lora }`; or a smaller base "
    "model."
)

Bytes = Mapping[str, int]
"""Bytes needed for each purpose, which error messages name."""


@dataclass(frozen=True)
class Shape:
    weights: int
    learned: int
    """Trained parameters: all weights, or those of the adapter."""
    moments: int
    """Bytes that the optimizer keeps for all of them."""
    layers: int
    layer: int
    hidden: int
    feed_forward: int
    vocabulary: int
    quantized: int = 0
    """Weights that are in 4 bits while an adapter learns."""
    largest: int = 0
    """Weights of the largest matrix among those, which arithmetic needs in its own precision."""


@dataclass(frozen=True)
class Gpu:
    total: int
    taken: int
    """Bytes in use by other programs."""


@dataclass(frozen=True)
class Machine:
    host: int
    gpus: Sequence[Gpu]


def this_machine(config: Config) -> Machine:
    """Measures GPU memory only if training uses GPUs, since querying them takes seconds."""
    gpus = range(torch.cuda.device_count()) if config["device"] == "cuda" else ()
    memory = [torch.cuda.mem_get_info(number) for number in gpus]
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in _LIMITS:
        # The file may be missing, and says `max` if there is no limit.
        with suppress(OSError, ValueError):
            sizes.append(int(file.read_text()))
    return Machine(min(sizes), [Gpu(total, total - free) for free, total in memory])


@dataclass(frozen=True)
class Passing:
    """Token counts of one forward pass in a warm start."""

    tokens: int
    scored: int
    """Tokens whose logits are held."""


def require_memory(model_folder: Path, config: Config, passing: Passing | None = None) -> None:
    """Raises `OutOfMemory` if training does not fit. Without `passing`, checks an update."""
    lack = find_lack(shape_of(model_folder, config), config, this_machine(config), passing)
    if lack is not None:
        raise OutOfMemory(f"{lack}. {_ADVICE}")


def sizes_of(model_folder: Path, config: Config) -> Bytes:
    """Returns the bytes that a checkpoint's weights and moments take on a disk."""
    shape = shape_of(model_folder, config)
    return {"weights": _FLOAT * shape.learned, "moments": shape.moments}


def shape_of(model_folder: Path, config: Config) -> Shape:
    try:
        settings = AutoConfig.from_pretrained(model_folder, **SAFELY).get_text_config()
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(settings)
    except Exception as cause:  # Each library raises its own exceptions for broken files.
        raise ModelInvalid(
            f"{model_folder / 'config.json'} does not describe a trainable model: {cause}"
        ) from cause
    weights = _count(model)
    stacks = (each for each in model.modules() if isinstance(each, torch.nn.ModuleList))
    layer = max(_count(each) for stack in stacks for each in stack)
    quantized = sizes_in_4_bits(model) if has_4_bits(config) else ()
    tuning, policy = config["tuning"], model
    if tuning["kind"] == "lora":
        with torch.device("meta"):
            policy = add_adapter(model, tuning, config["seed"])
    learned = sum(each.numel() for each in policy.parameters() if each.requires_grad)
    has_8 = has_8_bit_moments(config)
    return Shape(
        weights=weights,
        learned=learned,
        moments=bytes_of_8_bit_moments(policy) if has_8 else _MOMENTS * learned,
        layers=settings.num_hidden_layers,
        layer=layer,
        hidden=settings.hidden_size,
        feed_forward=getattr(settings, "intermediate_size", None) or 4 * settings.hidden_size,
        vocabulary=settings.vocab_size,
        quantized=sum(quantized),
        largest=max(quantized, default=0),
    )


def _count(module: torch.nn.Module) -> int:
    return sum(each.numel() for each in module.parameters())


def needed_by_process(shape: Shape, config: Config, passing: Passing | None = None) -> Bytes:
    """Returns the peak memory of each process of a step, on the device that it computes on."""
    is_full, is_half = config["tuning"]["kind"] == "full", config["precision"] == "bfloat16"
    width = _HALF if is_half else _FLOAT
    is_shared = config["processes"] > 1
    is_offloaded = is_full and is_shared and config["offload"]
    # Processes share a copy of the model; each has a whole adapter.
    share = -(-shape.weights // shards_of(config))
    learned = share if is_full else shape.learned
    base = width * (share - shape.quantized) + bytes_in_4_bits(shape.quantized)
    resting = {
        "weights": _FLOAT * learned + (0 if is_full else base),
        "optimizer": -(-shape.moments // shards_of(config)) if is_full else shape.moments,
    }
    held = {} if is_offloaded else resting
    copies = _HALF * shape.weights if is_full and is_half else width * shape.largest
    if is_shared:
        # The layers that FSDP has gathered at one time, with their gradients if they learn.
        outside = shape.weights - shape.layers * shape.layer
        gathered = min(shape.weights, outside + 2 * shape.layer)
        copies = (2 if is_full else 1) * width * gathered
    if passing is None:
        longest = config["maxPromptTokens"] + config["maxCompletionTokens"]
        tokens: int = config["microBatch"] * longest
        logits = _in_head(shape, config, tokens)
    else:
        tokens = passing.tokens
        # The library's loss also holds a float32 copy and its gradient.
        logits = (width + 2 * _FLOAT) * passing.scored * shape.vocabulary
    of_layer = width * tokens * (10 * shape.hidden + 4 * shape.feed_forward)
    # On a GPU, layers keep only their inputs and recompute the rest (activation checkpointing).
    is_kept = config["device"] == "cpu"
    kept = shape.layers * (of_layer if is_kept else _FLOAT * tokens * shape.hidden)
    gradients = 0 if is_offloaded else _FLOAT * learned
    at_work = {**held, "gradients": gradients, "working copies": copies}
    in_head = {**at_work, "activations": kept, "logits": logits}
    in_layer = {**at_work, "activations": kept + of_layer * (1 if is_kept else 2)}
    beside_reference = {
        **held,
        "the reference policy of beta": 0 if is_offloaded else _reference(config, learned),
        "working copies": copies,
        "activations": of_layer,
    }
    return max(in_head, in_layer, beside_reference, key=lambda each: sum(each.values()))


def _in_head(shape: Shape, config: Config, tokens: int) -> int:
    """Returns the bytes of TRL's head: a buffer of logits, and the gradient of its own weights."""
    is_full, is_half = config["tuning"]["kind"] == "full", config["precision"] == "bfloat16"
    tokens = min(tokens, TOKENS_AT_ONCE)
    buffer = (_HALF if is_half else _FLOAT) * tokens * LOGITS_AT_ONCE
    # A GPU has one kernel for the rest; elsewhere it takes several steps in float32.
    steps = 6 * _FLOAT * tokens * min(shape.vocabulary, LOGITS_AT_ONCE)
    gradient = _FLOAT * shape.vocabulary * shape.hidden if is_full else 0
    return buffer + (steps if config["device"] == "cpu" else 0) + gradient


def needed_to_score(shape: Shape, config: Config) -> Bytes:
    """Returns the memory that each process takes to compare served replies, one at a time."""
    is_full, is_half = config["tuning"]["kind"] == "full", config["precision"] == "bfloat16"
    width = _HALF if is_half else _FLOAT
    is_shared = config["processes"] > 1
    is_offloaded = is_shared and config["offload"]
    share = 0 if is_offloaded else -(-shape.weights // shards_of(config))
    adapter = 0 if is_full else _FLOAT * shape.learned
    copies = _HALF * shape.weights if is_full and is_half else 0
    tokens = config["maxPromptTokens"] + config["maxCompletionTokens"]
    return {
        "weights": (_FLOAT if is_full else width) * share + adapter,
        "working copies": width * _gathered(shape) if is_shared else copies,
        "activations": 2 * width * tokens * (10 * shape.hidden + 4 * shape.feed_forward),
        "logits": 2 * _FLOAT * tokens * min(shape.vocabulary, LOGITS_AT_ONCE),
    }


def _gathered(shape: Shape) -> int:
    """Counts the weights of the layers that FSDP has gathered at one time."""
    outside = shape.weights - shape.layers * shape.layer
    return min(shape.weights, outside + 2 * shape.layer)


def needed_by_host(shape: Shape, config: Config) -> Bytes:
    """Returns the host memory that all processes of a step on GPUs use together."""
    is_full, processes = config["tuning"]["kind"] == "full", processes_here(config)
    copies = max(1, processes // shards_of(config))
    is_offloaded = is_full and config["processes"] > 1 and config["offload"]
    base = (_HALF if config["precision"] == "bfloat16" else _FLOAT) * shape.weights
    outside = shape.weights - shape.layers * shape.layer
    # Processes that share the model read a reference to their device, but each a whole adapter.
    references = 0 if is_full and config["processes"] > 1 and not is_offloaded else processes
    return {
        # Whole weights are put together to be saved; an adapter's base is loaded to be probed.
        "loading and saving the model": _FLOAT * shape.learned + (0 if is_full else base),
        "weights, gradients and optimizer": (
            is_offloaded * copies * (2 * _FLOAT * shape.weights + shape.moments)
        ),
        # A part of the moments, which may end with a large one, as tensors and as bytes.
        "saving the optimizer": 2 * min(shape.moments, BYTES_AT_ONCE + _FLOAT * outside),
        "the reference policy of beta": _reference(
            config, shape.learned * (copies if is_offloaded else references)
        ),
    }


def _reference(config: Config, weights: int) -> int:
    """Returns the bytes of a reference policy of so many weights, all of them or an adapter's."""
    return 0 if config["loss"]["beta"] == 0 else _FLOAT * weights


def find_lack(
    shape: Shape, config: Config, machine: Machine, passing: Passing | None = None
) -> str | None:
    """Returns why a run does not fit into a machine, with the sums, or None if it fits."""
    processes, each = processes_here(config), needed_by_process(shape, config, passing)
    if config["device"] == "cpu":
        whole = {name: size * processes for name, size in each.items()}
        return _compare(f"Training on the CPU with processes: {processes}", whole, machine.host)
    if len(machine.gpus) < processes:
        return (
            f"training.trainer.processes is {processes}, each on its own GPU, but the "
            f"trainer's machine has {len(machine.gpus)}"
        )
    needs = {"Training": each, "Checking served replies": needed_to_score(shape, config)}
    for what, needed in needs.items():
        for number, gpu in enumerate(machine.gpus[:processes], start=1):
            taken = {**needed, "other programs, such as vLLM": gpu.taken}
            lack = _compare(f"{what} on GPU {number} of {processes}", taken, gpu.total)
            if lack is not None:
                return lack
    return _compare(
        "Training in the machine's own memory", needed_by_host(shape, config), machine.host
    )


def _compare(what: str, parts: Bytes, total: int) -> str | None:
    needed = sum(parts.values())
    if needed <= total:
        return None
    sums = ", ".join(f"{_gb(size)} for {name}" for name, size in parts.items() if size > 0)
    return f"{what} needs {_gb(needed)} GB, but there are only {_gb(total)}: {sums}"


def _gb(size: int) -> str:
    return f"{size / 1e9:.1f}" if size >= 5e7 else f"{size / 1e9:.2g}"
