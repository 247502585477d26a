"""Exports a checkpoint as an ordinary folder with a whole model and its model card."""

import json
from pathlib import Path
from typing import Any

import torch

from conductor_trainer.checkpoint import Record, id_of, require_record
from conductor_trainer.contract import CheckpointName, JsonObject, thinks
from conductor_trainer.errors import BadRequest
from conductor_trainer.model import copy_tokenizer, load_merged
from conductor_trainer.whole_folder import place_whole

_CARD_FILE = "README.md"


def export(root: Path, request: JsonObject) -> JsonObject:
    """Writes the folder completely or not at all. Raises `BadRequest` if it holds other files."""
    checkpoint, directory = request["checkpoint"], Path(request["directory"])
    record = require_record(root, checkpoint)

    def fill(folder: Path) -> None:
        # Merges in float32 before rounding, since rounding first would lose small adapter changes.
        model: Any = load_merged(root / record.folder)
        is_half = record.config["precision"] == "bfloat16"
        model.to(torch.bfloat16 if is_half else torch.float32).save_pretrained(folder)
        copy_tokenizer(root / record.folder, folder)
        (folder / _CARD_FILE).write_text(_card_of(checkpoint, record))

    card = directory / _CARD_FILE
    if not directory.exists() or not any(directory.iterdir()):
        place_whole(directory, fill)
    elif not card.exists() or record.weightsSha256 not in card.read_text():
        raise BadRequest(f"The folder {directory} is not empty. Choose another one, or remove it.")
    return {"directory": str(directory), "files": sorted(file.name for file in directory.iterdir())}


def _card_of(checkpoint: CheckpointName, record: Record) -> str:
    """Returns a model card that states only facts of the run."""
    config = record.config
    tuning, loss = config["tuning"], config["loss"]
    facts = {
        "Checkpoint": id_of(checkpoint),
        "Optimizer steps": record.step,
        "Tuning": f"LoRA of rank {tuning['rank']}, merged" if "rank" in tuning else "full",
        "Loss": f"{loss['name']}, clipped at {loss['epsilon']} and {loss['epsilonHigh']}",
        "Learning rate": config["optimizer"]["learningRate"],
        "Rollouts per batch": f"{config['rollouts']} in groups of {config['groupSize']}",
        "Sampled at temperature": config["temperature"],
        "SHA-256 of the trained weights": record.weightsSha256,
        "SHA-256 of the tokenizer": record.tokenizerSha256,
        "Libraries": ", ".join(f"{name} {number}" for name, number in record.versions.items()),
    }
    lines = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    metrics = json.dumps(record.outcome.get("metrics", {}), indent=2)
    return (
        "---\nlibrary_name: transformers\npipeline_tag: text-generation\n---\n\n"
        "# A Conductor policy\n\n"
        "Writes plans for a team of language models, trained by reinforcement learning on what "
        "the plans achieved (arXiv 2512.04388). Prompts are written by the tokenizer's chat "
        f"template, with `enable_thinking={thinks(config)}`.\n\n"
        f"| | |\n|---|---|\n{lines}\n\nMetrics of its last update:\n\n```json\n{metrics}\n```\n"
    )
