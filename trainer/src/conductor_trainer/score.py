"""Compares the log-probabilities of served replies with those that a checkpoint gives."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from conductor_trainer.batch import Row, expect, read_rollouts
from conductor_trainer.checkpoint import Record, read_record, require_record
from conductor_trainer.contract import JsonObject
from conductor_trainer.model import load_policy, logprobs_of


def score(root: Path, request: JsonObject, batch: Path) -> JsonObject:
    """Returns each group's mean |log p - log p of the server| for the checkpoint and its parent."""
    checkpoint = request["checkpoint"]
    record = require_record(root, checkpoint)
    served = {"rollouts": request["rollouts"], "temperature": request["temperature"]}
    about = {"trainRun": checkpoint["trainRun"], "config": request["config"] | served}
    expected = expect(request | about, checkpoint, record)
    rollouts = read_rollouts(batch.read_bytes(), expected)
    before = None if record.parent is None else read_record(root, record.parent)
    return {
        "own": _gaps(root, record, rollouts, request),
        "parent": None if before is None else _gaps(root, before, rollouts, request),
    }


def _gaps(root: Path, record: Record, rollouts: Sequence[Row], request: JsonObject) -> list[float]:
    """Returns one mean gap per group, in ascending order of group ids."""
    config = request["config"]
    policy: Any = load_policy(root, record, config)
    policy.to(config["device"]).eval()
    gaps_of: defaultdict[str, list[float]] = defaultdict(list)
    is_half = config["precision"] == "bfloat16"
    with torch.autocast(config["device"], torch.bfloat16, enabled=is_half):
        for rollout in rollouts:
            token_ids = rollout["promptTokenIds"] + rollout["completionTokenIds"]
            own = logprobs_of(policy, token_ids, request["temperature"])
            served = rollout["sampledLogprobs"]
            pairs = zip(own[-len(served) :], served, strict=True)
            gaps_of[rollout["groupId"]].append(fmean(abs(one - other) for one, other in pairs))
    return [fmean(gaps) for _, gaps in sorted(gaps_of.items())]
