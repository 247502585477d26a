"""One batch learned on a GPU and on the CPU, each update a process of its own as in a night.

Prints a line for each update of a tiny checkpoint, whole and with LoRA: loss, norm of the gradient,
and how far log-probabilities (in nats) are off those of the CPU in float32.
"""

import argparse
import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

# Before torch reads it: a tiny model loses more time to a second thread than it gains.
os.environ["OMP_NUM_THREADS"] = "1"

from transformers.utils import logging

from conductor_trainer.checkpoint import require_record
from conductor_trainer.contract import Config
from conductor_trainer.options import add_device_option, require_device
from conductor_trainer.starting import start
from conductor_trainer.worker.steps import StepRunner
from tiny_run import (
    FULL,
    LORA,
    begin,
    checkpoint,
    config_of,
    rows_of_batch,
    update_request,
    write_batch,
)

PROBE, CANARY = 0.5, 0.1
"""What a night allows a server on a GPU: `TOLERANCE` in src/training/config/resolve.ts."""

COLUMNS = "{:7} {:6} {:9} {:>10} {:>9} {:>8} {:>8} {:>8}"

GAPS = ("largest", "mean", "learned")
"""How far log-probabilities are off, over the tokens of the batch before anything was learned, at
most and on average; then over the probe of the checkpoint that was made, at most."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_device_option(parser, default="cuda")
    device = parser.parse_args().device
    start("The comparison", lambda: require_device(device))
    logging.disable_progress_bar()
    settings = [{"device": "cpu", "precision": "float32"}]
    if device == "cuda":
        settings.append({"device": device, "precision": "float32"})
    settings.append({"device": device, "precision": "bfloat16"})

    print(COLUMNS.format("weights", "device", "precision", "loss", "gradient", *GAPS))
    for tuning in (FULL, LORA):
        with tempfile.TemporaryDirectory() as folder:
            compare(Path(folder), tuning, settings)
    print(f"A server may be {PROBE} off at most on the probe, and {CANARY} on average in a canary.")


def compare(folder: Path, tuning: Any, settings: list[dict[str, str]]) -> None:
    """A line for each; the first one's probe is what the others are held against."""
    config = config_of(tuning=tuning, optimizer={"learningRate": 1e-3, "warmupSteps": 0})
    begin(folder / "begun", folder, config)
    # As if the CPU in float32 had sampled them: an update measures how far it is off the sampler.
    rows = rows_of_batch(folder / "begun", "warm", config)
    expected: list[float] = []
    for each in settings:
        root = folder / "-".join(each.values())
        shutil.copytree(folder / "begun", root)
        metrics, probe = learn(root, {**config, **each}, rows)
        expected = expected or probe
        learned = max(abs(one - other) for one, other in zip(probe, expected, strict=True))
        learning = [f"{metrics[name]:.3e}" for name in ("loss", "gradNorm")]
        gaps = [f"{gap:.1e}" for gap in (metrics["logprobGap"], metrics["samplerGap"], learned)]
        print(COLUMNS.format(tuning["kind"], *each.values(), *learning, *gaps), flush=True)


def learn(root: Path, config: Config, rows: list[dict[str, Any]]) -> tuple[Any, list[float]]:
    """The metrics of an update, and its checkpoint's log-probabilities of the probe's text."""
    files = {"batch": str(write_batch(root, 1, "warm", config, rows))}
    request = update_request(1, "warm", config)
    made = asyncio.run(StepRunner(root).run("update", request, files, lambda _: None))
    return made["metrics"], require_record(root, checkpoint("000001")).probe.logprobs


if __name__ == "__main__":
    main()
