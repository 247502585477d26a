"""How far replies that a server gave are from what a checkpoint would have given."""

import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from conductor_trainer.batch import Expected, Rollout, read_rollouts
from conductor_trainer.checkpoint import Record, id_of, read_record, require_record
from conductor_trainer.contract import Config, JsonObject, ScoreRequest
from conductor_trainer.model import load_policy, load_tokenizer, pad_id_of
from conductor_trainer.tensors import to_tensors


def score(root: Path, request: ScoreRequest, batch: Path) -> JsonObject:
    """Mean |log p of the checkpoint - log p of the server| of each group of replies.

    The same for the checkpoint that it was made of, where that is still there: a server that
    answers with yesterday's weights is nearer to it.
    """
    checkpoint = request["checkpoint"]
    record = require_record(root, checkpoint)
    rollouts = read_rollouts(batch.read_bytes(), _expected_of(request, record))
    before = None if record.parent is None else read_record(root, record.parent)
    return {
        "own": _gaps(root, record, rollouts, request),
        "parent": None if before is None else _gaps(root, before, rollouts, request),
    }


def _expected_of(request: ScoreRequest, record: Record) -> Expected:
    checkpoint, config = request["checkpoint"], request["config"]
    return Expected(
        train_run=checkpoint["trainRun"],
        cycle=request["cycle"],
        policy=checkpoint["name"],
        writers=[id_of(checkpoint)],
        tokenizer_sha256=record.tokenizerSha256,
        temperature=request["temperature"],
        vocabulary=record.vocabulary,
        most_rollouts=request["rollouts"],
        most_prompt_tokens=config["maxPromptTokens"],
        most_completion_tokens=config["maxCompletionTokens"],
    )


@torch.no_grad()
def _gaps(
    root: Path, record: Record, rollouts: Sequence[Rollout], request: ScoreRequest
) -> list[float]:
    """In ascending order of the groups."""
    config: Config = {**request["config"], "rollouts": len(rollouts)}
    config["loss"] = {**config["loss"], "maskTruncated": False}
    policy: Any = load_policy(root, record, config)
    policy.to(config["device"]).eval()
    pad_id = pad_id_of(load_tokenizer(root / record.folder))
    gaps_of: defaultdict[str, list[float]] = defaultdict(list)
    for at in range(0, len(rollouts), config["microBatch"]):
        some = rollouts[at : at + config["microBatch"]]
        batch = {
            name: tensor.to(config["device"])
            for name, tensor in to_tensors(some, {**config, "rollouts": len(some)}, pad_id).items()
        }
        ids_BT = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
        mask_BT = torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
        kept = batch["completion_ids"].size(1) + 1
        is_half = config["precision"] == "bfloat16"
        with torch.autocast(config["device"], torch.bfloat16, enabled=is_half):
            logits_BCV = policy(ids_BT, attention_mask=mask_BT, logits_to_keep=kept).logits[:, :-1]
        logprobs_BCV = torch.log_softmax(logits_BCV.float() / request["temperature"], -1)
        logprobs_BC = logprobs_BCV.gather(2, batch["completion_ids"][:, :, None])[:, :, 0]
        off_BC = (logprobs_BC - batch["sampling_per_token_logps"]).abs() * batch["completion_mask"]
        for row, rollout in enumerate(some):
            gaps_of[rollout.group_id].append(off_BC[row].sum().item() / len(rollout.completion_ids))
    return [math.fsum(gaps) / len(gaps) for _, gaps in sorted(gaps_of.items())]
