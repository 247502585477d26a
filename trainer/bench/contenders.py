"""One update, made by the product's trainer and by TRL alone."""

import json
import os
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from datasets import Dataset
from transformers.utils import logging
from trl.trainer.grpo_trainer import GRPOTrainer

from conductor_trainer.batch import Row, expect, read_batch
from conductor_trainer.checkpoint import checkpoint_folder, require_record
from conductor_trainer.contract import CheckpointName, Config, JsonObject
from conductor_trainer.model import load_policy, load_tokenizer
from conductor_trainer.step.main import perform
from conductor_trainer.train.grpo_config import grpo_config

Learn = Callable[[Path, JsonObject, Path], None]
"""Makes a request's checkpoint below a root, from the batch in a file."""

Seconds = dict[str, float]


def by_us(root: Path, request: JsonObject, batch: Path) -> None:
    perform("update", root, request, batch, lambda _: None)


def by_trl(root: Path, request: JsonObject, batch: Path) -> None:
    """TRL's own loop, rollouts through its own door, and a checkpoint as TRL writes one.

    It takes a batch that passes through the model at once.
    """
    config, parent = request["config"], require_record(root, request["parent"])
    tokenizer = load_tokenizer(root / parent.folder)
    rollouts = read_batch(batch.read_bytes(), expect(request, request["parent"], parent))
    at_once: Config = {**config, "rollouts": len(rollouts), "microBatch": len(rollouts)}
    args = grpo_config(at_once, config["iterations"], root / "trl")
    args.num_generations = config["groupSize"]
    args.max_steps = config["iterations"]
    trainer: Any = GRPOTrainer(
        model=load_policy(root, parent, config),  # pyright: ignore[reportArgumentType]
        args=args,
        train_dataset=Dataset.from_dict({"prompt": sorted({each["groupId"] for each in rollouts})}),
        reward_funcs=lambda completions, **_: [each["reward"] for each in rollouts],
        rollout_func=lambda prompts, _: _rolled_out(rollouts),
        processing_class=tokenizer,
    )
    trainer.train()
    trainer._save_checkpoint(trainer.model, None)


CONTENDERS: tuple[tuple[str, Learn], ...] = (("ours", by_us), ("trl", by_trl))


def _rolled_out(rollouts: list[Row]) -> dict[str, Any]:
    return {
        "prompt_ids": [each["promptTokenIds"] for each in rollouts],
        "completion_ids": [each["completionTokenIds"] for each in rollouts],
        "logprobs": [each["sampledLogprobs"] for each in rollouts],
    }


def measure(learn: Learn, root: Path, request: JsonObject, batch: Path) -> Seconds:
    """Times an update in its own process: `fork`, `whole` and, within it, `loop`."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(root, Path(folder) / "checkpoints"))
        made = CheckpointName(trainRun=request["trainRun"], name=f"{request['cycle']:06}")
        shutil.rmtree(checkpoint_folder(copy, made), ignore_errors=True)
        return _in_fork(lambda: _time(learn, copy, request, batch))


def _time(learn: Learn, root: Path, request: JsonObject, batch: Path) -> Seconds:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    began = time.perf_counter()
    with _timed_loop() as loop:
        learn(root, request, batch)
    return {"whole": time.perf_counter() - began, "loop": sum(loop)}


@contextmanager
def _timed_loop() -> Iterator[list[float]]:
    """Notes how long TRL's trainer, in whatever subclass, trains."""
    took: list[float] = []
    train = GRPOTrainer.train

    def timed(self: GRPOTrainer, *args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter()
        result = train(self, *args, **kwargs)
        took.append(time.perf_counter() - began)
        return result

    GRPOTrainer.train = timed
    try:
        yield took
    finally:
        GRPOTrainer.train = train


def _in_fork(work: Callable[[], Seconds]) -> Seconds:
    """Runs work in a child process, and adds the time that the fork took."""
    answer_in, answer_out = os.pipe()
    began = time.perf_counter()
    child = os.fork()
    if child == 0:
        forked = time.perf_counter() - began
        try:
            # Keeps the libraries' output off stdout.
            os.dup2(2, 1)
            os.write(answer_out, json.dumps({"fork": forked, **work()}).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(answer_out)
    with os.fdopen(answer_in) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    if not said:
        raise RuntimeError("A forked process ended without an answer; see its output above.")
    return json.loads(said)
