"""A checkpoint that is learned, by one process or by several together, and its record."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from conductor_trainer.checkpoint import Record, require_record
from conductor_trainer.contract import JsonObject
from conductor_trainer.model import kind_of, load_tokenizer, load_weights
from conductor_trainer.ranks import run_ranks
from conductor_trainer.record import Made, folder_of, record_of, save_record

Job = Literal["update", "warmStart"]
"""A name for what is learned, since other processes are told of it in words."""

Learn = Callable[[Made, Any, Path, Callable[[str], None]], tuple[Any, JsonObject]]


def learn_together(
    job: Job,
    learn: Learn,
    made: Made,
    request: Any,
    file: Path,
    outcome_of: Callable[[Sequence[JsonObject]], JsonObject],
    report: Callable[[str], None],
) -> Record:
    """Has each process do its part of a job by `learn`; `outcome_of` sums up what they tell."""
    config = made.config
    parent_folder = made.root / require_record(made.root, request["parent"]).folder
    tokenizer = load_tokenizer(parent_folder)
    if config["processes"] == 1:
        policy, told = learn(made, request, file, report)
        return save_record(made, policy, tokenizer, parent_folder, outcome_of([told]))
    paths = {"root": str(made.root), "temporary": str(made.temporary)}
    order = {"job": job, "made": asdict(made) | paths, "request": request, "file": str(file)}
    every = run_ranks(config["processes"], order, report)
    saved = made.temporary / kind_of(config["tuning"])
    policy = load_weights(saved, made.root / made.base, config)
    folder = folder_of(made.target, config)
    return record_of(made, policy, tokenizer, saved, folder, outcome_of(every))
