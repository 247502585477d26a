"""The jobs that a step can run.

Imported by the fork server before the first step, and by the steps, but never by the worker. No
other module imports jobs, so that each of them can be read without the others.
"""

import gc
import time
from pathlib import Path
from typing import Any

from transformers.conversion_mapping import get_checkpoint_conversion_mapping
from transformers.utils import logging

from conductor_trainer.chat import chat_of, compared_prompts
from conductor_trainer.checkpoint import Record, require_record
from conductor_trainer.contract import JsonObject
from conductor_trainer.export import export
from conductor_trainer.low_bits import has_4_bits, require_bitsandbytes
from conductor_trainer.model import load_tokenizer, load_weights
from conductor_trainer.score import score
from conductor_trainer.step.messages import Report
from conductor_trainer.thoughts import require_thoughts
from conductor_trainer.train.init import init
from conductor_trainer.train.memory import require_memory, sizes_of
from conductor_trainer.train.record import Learn, Made, OutcomeOf, record_of
from conductor_trainer.train.together import work_together
from conductor_trainer.train.update import update
from conductor_trainer.train.warm_start import warm_start

# Building this mapping is half of a model's load time; steps inherit it from the fork server.
get_checkpoint_conversion_mapping("qwen2")
# Keeps the garbage collector from touching, and so copying, memory that the steps share.
gc.collect()
gc.freeze()


def perform(job: str, root: Path, request: Any, file: Any, report: Report) -> JsonObject:
    """Runs a job. `file` is a local copy of what the request names, such as its `batch`."""
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    if "config" in request:
        require_bitsandbytes(request["config"])

    def learn_together(learn: Learn, made: Made, outcome_of: OutcomeOf) -> Record:
        """Runs `learn` in every process; `outcome_of` combines results and seconds."""
        started, processes = time.perf_counter(), made.config["processes"]
        parent = require_record(root, made.request["parent"])
        tokenizer = load_tokenizer(root / parent.folder)
        chat = chat_of(root, parent, tokenizer)
        shared = made.temporary / "shared"
        policy, every = work_together(learn, (made,), file, processes, shared, report)
        if policy is None or has_4_bits(made.config):
            policy = load_weights(made.saved, root / made.base, made.config)
        outcome = outcome_of(every, time.perf_counter() - started)
        return record_of(made, policy, chat, parent.probe.tokenIds, outcome)

    match job:
        case "start":
            # Only tests that steps can be started.
            return {}
        case "init":
            return init(root, request, file)
        case "warmStart":
            return warm_start(root, request, learn_together)
        case "preflight":
            record = require_record(root, request["checkpoint"])
            whole = record.folder if record.kind == "model" else record.base
            require_memory(root / whole, request["config"])
            config, tokenizer = request["config"], load_tokenizer(root / record.folder)
            chat = chat_of(root, record, tokenizer)
            require_thoughts(tokenizer, chat, config)
            prompts = [] if file is None else compared_prompts(tokenizer, chat, file, config)
            return {"sizes": sizes_of(root / whole, config), "prompts": prompts}
        case "update":
            return update(root, request, learn_together)
        case "score":
            return score(root, request, file, report)
        case _:
            return export(root, request)
