"""Compares the log-probabilities of served replies with those that a checkpoint gives."""

import gc
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

import torch
import torch.distributed as dist

from conductor_trainer.batch import Row, expect, read_rollouts
from conductor_trainer.checkpoint import Record, checkpoint_folder, read_record, require_record
from conductor_trainer.contract import JsonObject
from conductor_trainer.model import load_policy, logprobs_of
from conductor_trainer.step.messages import Report
from conductor_trainer.train.record import join_ranks
from conductor_trainer.train.together import work_together

Gaps: TypeAlias = Mapping[str, tuple[str, float]]
"""By rollout: its group, and its mean |log p - log p of the server|."""


def score(root: Path, request: JsonObject, batch: Path, report: Report) -> JsonObject:
    """Returns each group's mean |log p - log p of the server| for the checkpoint and its parent."""
    checkpoint, processes = request["checkpoint"], request["config"]["processes"]
    records = {"own": require_record(root, checkpoint)}
    parent = records["own"].parent
    before = None if parent is None else read_record(root, parent)
    if before is not None:
        records["parent"] = before
    given, near = (root, request, records), checkpoint_folder(root, checkpoint)
    _, told = work_together(compare, given, batch, processes, near, report)
    means = {name: _mean_by_group([each[name] for each in told]) for name in records}
    return {"parent": None, **means}


def compare(
    root: Path, request: JsonObject, records: Mapping[str, Record], batch: Path, report: Report
) -> tuple[None, dict[str, Gaps]]:
    """Compares all replies with each checkpoint alone, or a share as one of several processes."""
    checkpoint, config = request["checkpoint"], request["config"]
    served = {"rollouts": request["rollouts"], "temperature": request["temperature"]}
    about = {"trainRun": checkpoint["trainRun"], "config": config | served}
    expected = expect(request | about, checkpoint, records["own"])
    rollouts = read_rollouts(batch.read_bytes(), expected)
    join_ranks(config)
    share = _share_of(rollouts)
    return None, {
        name: _gaps(root, record, share, request, report) for name, record in records.items()
    }


def _share_of(rollouts: Sequence[Row]) -> Sequence[Row]:
    """Returns as many rows to each process, some of them to two.

    All take part in each forward pass of any, since each has a share of the weights.
    """
    if not dist.is_initialized():
        return rollouts
    processes = dist.get_world_size()
    places = range(dist.get_rank(), -(-len(rollouts) // processes) * processes, processes)
    return [rollouts[place % len(rollouts)] for place in places]


def _gaps(
    root: Path, record: Record, rollouts: Sequence[Row], request: JsonObject, report: Report
) -> Gaps:
    config = request["config"]
    report("loading")
    # A shared model refers to itself: the one before would stay beside this one.
    gc.collect()
    policy: Any = load_policy(root, record, config)
    # A share of a model is on its device already, and cannot be moved.
    (policy if dist.is_initialized() else policy.to(config["device"])).eval()
    report("comparing")
    gaps: dict[str, tuple[str, float]] = {}
    is_half = config["precision"] == "bfloat16"
    with torch.autocast(config["device"], torch.bfloat16, enabled=is_half):
        for rollout in rollouts:
            token_ids = rollout["promptTokenIds"] + rollout["completionTokenIds"]
            own = logprobs_of(policy, token_ids, request["temperature"])
            served = rollout["sampledLogprobs"]
            pairs = zip(own[-len(served) :], served, strict=True)
            gap = fmean(abs(one - other) for one, other in pairs)
            gaps[rollout["rolloutId"]] = (rollout["groupId"], gap)
    return gaps


def _mean_by_group(told: Sequence[Gaps]) -> list[float]:
    """Returns the means in ascending order of group ids; a rollout that came twice counts once."""
    gaps_of: defaultdict[str, list[float]] = defaultdict(list)
    for group, gap in {rollout: gap for gaps in told for rollout, gap in gaps.items()}.values():
        gaps_of[group].append(gap)
    return [fmean(gaps) for _, gaps in sorted(gaps_of.items())]
