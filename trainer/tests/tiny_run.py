"""A training run small enough to be run within a test."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from conductor_trainer.checkpoint import Chat, require_record
from conductor_trainer.contract import CheckpointName, Config
from conductor_trainer.model import load_policy, load_tokenizer
from conductor_trainer.step.main import perform
from conductor_trainer.train.init import init

RUN = "night"
SHA = "0" * 64
TOPICS = ("trivia", "algebra")
TINY = dict(
    kind="tiny",
    texts={"key": "texts", "sha256": SHA},
    vocabulary=320,
    hidden=32,
    layers=2,
    heads=2,
    keyValueHeads=1,
    feedForward=48,
    maxPositions=256,
    initializerRange=0.08,
)
TINY_CHAT = Chat(markers=["<|endoftext|>", "<|im_end|>", "<|im_start|>"], ends=[2], system=True)
FULL = {"kind": "full"}
LORA = {"kind": "lora", "rank": 4, "alpha": 8, "targets": "all-linear"}


def config_of(
    *, optimizer: dict[str, Any] | None = None, loss: dict[str, Any] | None = None, **changes: Any
) -> Config:
    settings: Any = {
        "seed": 7,
        "device": "cpu",
        "precision": "float32",
        "tuning": FULL,
        "scale": "group",
        "maxAdvantage": None,
        "rollouts": 8,
        "groupSize": 4,
        "microBatch": 8,
        "processes": 1,
        "offload": False,
        "iterations": 2,
        "minibatches": 1,
        "temperature": 1.0,
        "maxPromptTokens": 64,
        "maxCompletionTokens": 96,
        **changes,
    }
    settings["loss"] = {
        "name": "dapo",
        "epsilon": 0.2,
        "epsilonHigh": 0.28,
        "ratio": "token",
        "beta": 0.0,
        "entropy": 0.0,
        "correction": "token_truncate",
        "mostWeight": 3.0,
        "maskTruncated": False,
        **(loss or {}),
    }
    settings["optimizer"] = {
        "learningRate": 1e-2,
        "beta1": 0.9,
        "beta2": 0.999,
        "epsilon": 1e-8,
        "weightDecay": 0.0,
        "maxGradNorm": 1.0,
        "schedule": "constant",
        "warmupSteps": 2,
        "totalSteps": 40,
        **(optimizer or {}),
    }
    return settings


def prompt_of(topic: str) -> str:
    return f"<|im_start|>user\nA {topic} question?<|im_end|>\n<|im_start|>assistant\n"


def reply_of(topic: str, worker: int) -> str:
    return f'This is {topic}.\nmodel_id = [{worker}]\nsubtasks = ["Solve it."]\naccess_list = [[]]'


def write_texts(folder: Path) -> Path:
    """Writes the texts that the tiny model's tokenizer is trained on."""
    pairs = [(topic, n) for topic in TOPICS for n in range(4)]
    path = folder / "texts.jsonl"
    path.write_text(
        "".join(json.dumps(prompt_of(topic) + reply_of(topic, n)) + "\n" for topic, n in pairs)
    )
    return path


def checkpoint(name: str) -> CheckpointName:
    return CheckpointName(trainRun=RUN, name=name)


def weights(root: Path, name: str) -> dict[str, torch.Tensor]:
    record = require_record(root, checkpoint(name))
    (file,) = (root / record.folder).glob("*.safetensors")
    return load_file(file)


def begin(root: Path, files: Path, config: Config, **changes: Any) -> None:
    """Makes `base`, and `warm` from a few steps of supervised learning."""
    pairs = [(prompt_of(topic), reply_of(topic, n)) for topic in TOPICS for n in range(4)]
    examples = files / "examples.jsonl"
    examples.write_text(
        "".join(json.dumps({"prompt": p, "completion": r}) + "\n" for p, r in pairs)
    )
    init(root, {"trainRun": RUN, "base": TINY, "config": config}, write_texts(files))
    perform("warmStart", root, warm_start_request(config, **changes), examples, lambda _: None)


def warm_start_request(config: Config, **changes: Any) -> Any:
    return {
        "trainRun": RUN,
        "parent": checkpoint("base"),
        "name": "warm",
        "examples": {"key": "examples", "sha256": SHA},
        "steps": 30,
        "batch": 8,
        "learningRate": 1e-2,
        "warmupSteps": 3,
        "weights": "tuned",
        "config": config,
        **changes,
    }


def rows_of_batch(
    root: Path, parent: str, config: Config, *, drift: float = 0.0, rewards: Sequence[float] = ()
) -> list[dict[str, Any]]:
    """Two groups of four replies; their log-probabilities are the parent's, less a drift."""
    record = require_record(root, checkpoint(parent))
    tokenizer = load_tokenizer(root / record.folder)
    policy: Any = load_policy(root, record, config)
    rows: list[dict[str, Any]] = []
    for group, topic in enumerate(TOPICS):
        for worker in range(4):
            prompt_ids = tokenizer.encode(prompt_of(topic))
            reply_ids = tokenizer.encode(reply_of(topic, worker) + "<|im_end|>")
            with torch.no_grad():
                logits_TV = policy(torch.tensor([prompt_ids + reply_ids])).logits[0]
            logprobs_TV = torch.log_softmax(logits_TV.float(), -1)[len(prompt_ids) - 1 : -1]
            logprobs_T = logprobs_TV.gather(1, torch.tensor(reply_ids)[:, None])[:, 0] - drift
            place = 4 * group + worker
            rows.append(
                {
                    "rolloutId": f"{place:03}",
                    "groupId": topic,
                    "round": 0,
                    "policy": f"{RUN}/{parent}",
                    "promptTokenIds": prompt_ids,
                    "completionTokenIds": reply_ids,
                    "sampledLogprobs": logprobs_T.clamp(max=0).tolist(),
                    "reward": rewards[place] if rewards else (0.0, 0.5, 0.5, 1.0)[worker],
                    "finishReason": "stop",
                }
            )
    return rows


def signed(rows: Sequence[dict[str, Any]], writer: str) -> list[dict[str, Any]]:
    """Returns the rows as if another checkpoint had written them."""
    return [{**row, "policy": writer} for row in rows]


def pack_batch(
    root: Path, cycle: int, parent: str, config: Config, rows: Sequence[dict[str, Any]]
) -> bytes:
    header = {
        "schema": 1,
        "trainRun": RUN,
        "cycle": cycle,
        "policy": parent,
        "rollouts": len(rows),
        "temperature": config["temperature"],
        "tokenizerSha256": require_record(root, checkpoint(parent)).tokenizerSha256,
    }
    return gzip.compress("\n".join(json.dumps(line) for line in (header, *rows)).encode())


def update_request(cycle: int, parent: str, config: Config) -> Any:
    return {
        "trainRun": RUN,
        "cycle": cycle,
        "parent": checkpoint(parent),
        "batch": {"key": f"batch-{cycle}", "sha256": SHA},
        "config": config,
    }


def write_batch(
    root: Path, cycle: int, parent: str, config: Config, rows: Sequence[dict[str, Any]]
) -> Path:
    path = root / f"batch-{cycle}.jsonl.gz"
    path.write_bytes(pack_batch(root, cycle, parent, config, rows))
    return path


def learn(
    root: Path, cycle: int, parent: str, config: Config, rows: Sequence[dict[str, Any]]
) -> Any:
    batch = write_batch(root, cycle, parent, config, rows)
    return perform("update", root, update_request(cycle, parent, config), batch, lambda _: None)
