"""One cycle of learning: a checkpoint and a batch become the next checkpoint."""

import time
from collections.abc import Callable
from pathlib import Path

from conductor_trainer.checkpoint import Record, describe, identity_of, require_record
from conductor_trainer.contract import CheckpointName, JsonObject, UpdateRequest
from conductor_trainer.learn import last_step_of, learn, metrics_of
from conductor_trainer.make_once import make_once
from conductor_trainer.model import kind_of, load_tokenizer, load_weights
from conductor_trainer.ranks import run_ranks
from conductor_trainer.record import Made, folder_of, record_of, save_record


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
        parent_folder = root / parent.folder
        tokenizer = load_tokenizer(parent_folder)

        def outcome_of(*told: JsonObject) -> JsonObject:
            return {"metrics": {**metrics_of(told), "seconds": time.perf_counter() - started}}

        if config["processes"] == 1:
            policy, told = learn(root, request, batch, temporary, report)
            return save_record(made, policy, tokenizer, parent_folder, outcome_of(told))
        paths = {"root": root, "batch": batch, "temporary": temporary}
        job = {name: str(path) for name, path in paths.items()} | {"request": request}
        told = run_ranks(config["processes"], job, report)
        saved = temporary / kind_of(config["tuning"])
        policy = load_weights(saved, root / parent.base, config)
        folder = folder_of(target, config)
        return record_of(made, policy, tokenizer, saved, folder, outcome_of(*told))

    record, replayed = make_once(root, target, identity, build)
    return describe(target, record, replayed)
