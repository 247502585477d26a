"""One cycle of learning: a checkpoint and a batch become the next checkpoint."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from conductor_trainer.checkpoint import Record, describe, identity_of, require_record
from conductor_trainer.contract import CheckpointName, JsonObject, UpdateRequest
from conductor_trainer.learn import last_step_of, learn, metrics_of
from conductor_trainer.learn_together import learn_together
from conductor_trainer.make_once import make_once
from conductor_trainer.record import Made


def update(
    root: Path, request: UpdateRequest, batch: Path, report: Callable[[str], None]
) -> JsonObject:
    """Makes the checkpoint of a cycle, or finds it where the same request made it before."""
    target = CheckpointName(trainRun=request["trainRun"], name=f"{request['cycle']:06}")
    identity = identity_of("update", request)

    def build(temporary: Path) -> Record:
        started = time.perf_counter()
        config, parent = request["config"], require_record(root, request["parent"])
        made = Made(
            root,
            temporary,
            target,
            identity,
            parent.base,
            config,
            last_step_of(request, parent),
            request["parent"],
            parent.first or request["parent"],
        )

        def outcome_of(told: Sequence[JsonObject]) -> JsonObject:
            return {"metrics": {**metrics_of(told), "seconds": time.perf_counter() - started}}

        return learn_together("update", learn, made, request, batch, outcome_of, report)

    record, replayed = make_once(root, target, identity, build)
    return describe(target, record, replayed)
