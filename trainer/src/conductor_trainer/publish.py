"""Brings checkpoints to policy servers, and takes them away again."""

from pathlib import Path

import httpx

from conductor_trainer.checkpoint import require_record
from conductor_trainer.collect import checkpoints_in
from conductor_trainer.errors import ProbeFailed
from conductor_trainer.policy_servers import PolicyServer
from conductor_trainer.requests import (
    CheckpointName,
    PublishRequest,
    PublishResult,
    RetireRequest,
    RetireResult,
)


def model_name(checkpoint: CheckpointName) -> str:
    """What requests to a policy server call a checkpoint.

    Each has a name of its own: a server may keep what it computed under a name, and a name that
    came to mean other weights would bring it back.
    """
    return f"{checkpoint['trainRun']}-{checkpoint['name']}"


async def publish(root: Path, request: PublishRequest) -> PublishResult:
    """Loads a checkpoint everywhere, then proves that each server computes what the trainer did.

    Raises `ProbeFailed` beyond the tolerance: other weights, another tokenizer, another precision.
    """
    record = require_record(root, request["checkpoint"])
    model, folder = model_name(request["checkpoint"]), str(root / record.folder)
    gaps = [0.0]
    async with httpx.AsyncClient() as client:
        for url in request["servers"]:
            server = PolicyServer(url, client)
            await server.load(model, folder)
            gap = await server.probe(model, record.probe)
            # Written so that NaN fails.
            if not gap <= request["tolerance"]:
                raise ProbeFailed(
                    f"{url} gives log-probabilities of {model} that differ from the trainer's by "
                    f"{gap:.3g}, over the tolerance of {request['tolerance']:.3g}: it serves other "
                    f"weights than {folder}, or in another precision. Unload the model there if it "
                    "was loaded from elsewhere, or widen the tolerance."
                )
            gaps.append(gap)
    return {"model": model, "logprobGap": max(gaps)}


async def retire(root: Path, request: RetireRequest) -> RetireResult:
    """Unloads every checkpoint of a training run that the request does not keep."""
    names = [
        name for name in checkpoints_in(root / request["trainRun"]) if name not in request["keep"]
    ]
    candidates = {model_name({"trainRun": request["trainRun"], "name": name}) for name in names}
    retired: set[str] = set()
    async with httpx.AsyncClient() as client:
        for url in request["servers"]:
            server = PolicyServer(url, client)
            for model in sorted(candidates.intersection(await server.models())):
                if await server.unload(model):
                    retired.add(model)
    return {"retired": sorted(retired)}
