"""The jobs that a step can run.

Imported by the fork server before the first step, and by the steps, but never by the worker.
"""

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers.conversion_mapping import get_checkpoint_conversion_mapping
from transformers.utils import logging

from conductor_trainer.checkpoint import require_record
from conductor_trainer.contract import JsonObject
from conductor_trainer.export import export
from conductor_trainer.init import init
from conductor_trainer.memory import require_memory, sizes_of
from conductor_trainer.score import score
from conductor_trainer.update import update
from conductor_trainer.warm_start import warm_start

# Building this mapping is half of a model's load time; steps inherit it from the fork server.
get_checkpoint_conversion_mapping("qwen2")
# Keeps the garbage collector from touching, and so copying, memory that the steps share.
gc.collect()
gc.freeze()


def perform(
    job: str, root: Path, request: Any, file: Any, report: Callable[[str], None]
) -> JsonObject:
    """Runs a job. `file` is a local copy of the request's `texts`, `examples` or `batch`."""
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    match job:
        case "init":
            return init(root, request, file)
        case "warmStart":
            return warm_start(root, request, file, report)
        case "preflight":
            record = require_record(root, request["checkpoint"])
            whole = record.folder if record.kind == "model" else record.base
            require_memory(root / whole, request["config"])
            return {**sizes_of(root / whole, request["config"])}
        case "update":
            return update(root, request, file, report)
        case "score":
            return score(root, request, file)
        case _:
            return export(root, request)
