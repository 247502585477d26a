"""Measures an update and a check of a model of Qwen2.5-7B's shape beside the preflight's estimates.

Weights and rollouts are random, so nothing is downloaded. The adapter, the micro batch and the
lengths of prompts and replies are those of profiles/qwen2.5-7b-lora.yaml.
"""

import argparse
import gc
import math
import random
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, Qwen2Config
from transformers.utils import logging

from conductor_trainer.checkpoint import require_record
from conductor_trainer.contract import Config
from conductor_trainer.options import add_device_option, require_device
from conductor_trainer.starting import start
from conductor_trainer.step.main import perform
from conductor_trainer.tiny_model import train_tokenizer
from conductor_trainer.train.init import init
from conductor_trainer.train.memory import Bytes, needed_by_process, needed_to_score, shape_of
from policies import PROMPT, QWEN_7B
from tiny_run import RUN, checkpoint, config_of, update_request, write_batch

TINY = Qwen2Config(
    vocab_size=512,
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    intermediate_size=128,
)

SHAPES = {"7b": (QWEN_7B, 4096, 1024), "tiny": (TINY, 64, 32)}
"""Model configurations, each with the tokens of a prompt and of a reply."""

ROLLOUTS = 16
"""More rollouts take longer but no more memory, which depends on the micro batch."""

CYCLE, ESTIMATED_S = 256, 480
"""Rollouts per cycle of the profile, and its estimate of their update in seconds."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_device_option(parser, default="cuda")
    parser.add_argument("--shape", choices=SHAPES, default="7b", help="tiny only tests the program")
    options = parser.parse_args()
    start("The measurement", lambda: require_device(options.device))
    logging.disable_progress_bar()
    qwen, prompt, reply = SHAPES[options.shape]
    config = config_of(
        device=options.device,
        precision="bfloat16",
        tuning={"kind": "lora", "rank": 32, "alpha": 32, "targets": "all-linear"},
        microBatch=2,
        rollouts=ROLLOUTS,
        groupSize=8,
        # The second step is timed, since the first one includes one-time work.
        iterations=2,
        maxPromptTokens=prompt,
        maxCompletionTokens=reply,
        optimizer={"learningRate": 1e-5},
        # Also loads a reference policy, a second adapter.
        loss={"beta": 0.01},
    )
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), qwen, config)


def measure(folder: Path, qwen: Qwen2Config, config: Config) -> None:
    model, root = folder / "model", folder / "checkpoints"
    make_model(model, qwen, config["device"])
    shape = shape_of(model, config)
    print(f"estimated {in_parts(needed_by_process(shape, config))}", flush=True)
    base = {"kind": "folder", "path": str(model)}
    init(root, {"trainRun": RUN, "base": base, "config": config}, None)
    chat = require_record(root, checkpoint("base")).chat
    drawn = [each for each in range(qwen.vocab_size) if chat is None or each not in chat.ends]
    batch = write_batch(root, 1, "base", config, random_rows(drawn, config))
    at: dict[str, float] = {}

    def report(phase: str) -> None:
        at[phase] = time.perf_counter()

    made = perform("update", root, update_request(1, "base", config), batch, report)
    print(f"measured  {most_taken(config['device'])}")
    print(f"check     estimated {in_parts(needed_to_score(shape, config))}", flush=True)
    forget_the_peak(config["device"])
    served = {
        "checkpoint": checkpoint("base"),
        "cycle": 1,
        "rollouts": ROLLOUTS,
        "temperature": 1.0,
    }
    perform("score", root, served | {"config": config}, batch, report)
    print(f"check     measured  {most_taken(config['device'])}")
    step = at["step 2 of 2"] - at["step 1 of 2"]
    whole = f"{step * CYCLE / ROLLOUTS:.0f} s for {CYCLE}; the profile estimates {ESTIMATED_S} s"
    print(f"step      {step:.2f} s for {ROLLOUTS} rollouts, {whole}")
    print(f"update    {made['metrics']['seconds']:.1f} s for both steps, with loading and saving")


def make_model(folder: Path, qwen: Qwen2Config, device: str) -> None:
    """Saves random weights in bfloat16, made on `device`, and any valid tokenizer."""
    train_tokenizer([PROMPT], 320).save_pretrained(folder)
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(qwen, dtype=torch.bfloat16)
    model.save_pretrained(folder)
    del model
    forget_the_peak(device)


def forget_the_peak(device: str) -> None:
    """Has only what follows measured."""
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def random_rows(vocabulary: Sequence[int], config: Config) -> list[dict[str, Any]]:
    """Returns rollouts of the maximum length, as if a uniform policy had sampled them."""
    chance = random.Random(config["seed"])

    def tokens(count: int) -> list[int]:
        return chance.choices(vocabulary, k=count)

    reply = config["maxCompletionTokens"]
    return [
        {
            "rolloutId": f"{place:03}",
            "groupId": str(place // config["groupSize"]),
            "round": 0,
            "policy": f"{RUN}/base",
            "promptTokenIds": tokens(config["maxPromptTokens"]),
            "completionTokenIds": tokens(reply),
            "sampledLogprobs": [-math.log(len(vocabulary))] * reply,
            "reward": float(place % 2),
            "finishReason": "length",
        }
        for place in range(config["rollouts"])
    ]


def most_taken(device: str) -> str:
    if device == "cpu":
        size = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return f"{gb(size)} at most by the whole process, including its libraries"
    tensors, kept = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    card = torch.cuda.get_device_name()
    return f"{gb(tensors)} at most by tensors, {gb(kept)} with what PyTorch reserves, on {card}"


def in_parts(needed: Bytes) -> str:
    needs = ", ".join(f"{gb(size)} for {name}" for name, size in needed.items() if size > 0)
    return f"{gb(sum(needed.values()))}: {needs}"


def gb(size: int) -> str:
    return f"{size / 1e9:.3g} GB"


if __name__ == "__main__":
    main()
