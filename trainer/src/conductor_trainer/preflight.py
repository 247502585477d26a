"""What a night asks before it pays for anything: whether its updates will fit into memory."""

from pathlib import Path

from conductor_trainer.checkpoint import require_record
from conductor_trainer.contract import JsonObject, PreflightRequest
from conductor_trainer.memory import require_memory


def preflight(root: Path, request: PreflightRequest) -> JsonObject:
    """Raises `OutOfMemory` where a checkpoint cannot be trained on this machine."""
    record = require_record(root, request["checkpoint"])
    whole = record.folder if record.kind == "model" else record.base
    require_memory(root / whole, request["config"])
    return {}
