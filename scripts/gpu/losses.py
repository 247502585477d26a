"""Learns one batch on a GPU and on the CPU, each update in its own process as in a night.

Prints a line per update of a tiny checkpoint, with all weights and with LoRA: loss, gradient norm,
and the gaps of log-probabilities (in nats) to those of the CPU in float32.
"""

import argparse
import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

# Set before torch reads it: a second thread slows a tiny model down.
os.environ["OMP_NUM_THREADS"] = "1"

from transformers.utils import logging

from conductor_trainer.checkpoint import require_record
from conductor_trainer.contract import Config
from conductor_trainer.options import add_device_option, require_device
from conductor_trainer.starting import start
from conductor_trainer.step.runner import StepRunner
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
"""Gaps that a night allows a server on a GPU: `TOLERANCE` in src/training/config/resolve.ts."""

COLUMNS = "{:7} {:6} {:9} {:>10} {:>9} {:>8} {:>8} {:>8}"

GAPS = ("largest", "mean", "learned")
"""Gaps of log-probabilities: largest and mean over the batch's tokens before the update, then
largest over the new checkpoint's probe."""


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
    print(
        f"A server may be off by {PROBE} at most on the probe, by {CANARY} on average in a canary."
    )


def compare(folder: Path, tuning: Any, settings: list[dict[str, str]]) -> None:
    """Prints a line per setting; probes are compared with that of the first setting."""
    config = config_of(tuning=tuning, optimizer={"learningRate": 1e-3, "warmupSteps": 0})
    begin(folder / "begun", folder, config)
    # Sampled by the CPU in float32, since an update measures its gap to the sampler.
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
    """Returns an update's metrics and its checkpoint's log-probabilities of the probe text."""
    batch = write_batch(root, 1, "warm", config, rows)
    request = update_request(1, "warm", config)
    made = asyncio.run(StepRunner(root).run("update", request, batch, lambda _: None))
    return made["metrics"], require_record(root, checkpoint("000001")).probe.logprobs


if __name__ == "__main__":
    main()
