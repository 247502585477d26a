"""What a step process can be asked to do, and how it answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

from transformers.utils import logging

from conductor_trainer.errors import BadRequest, TrainerError
from conductor_trainer.export import export
from conductor_trainer.init import init
from conductor_trainer.requests import JsonObject
from conductor_trainer.update import update
from conductor_trainer.warm_start import warm_start

Report = Callable[[str], None]


class Job(TypedDict):
    """One line of the fork server's input."""

    id: int
    job: str
    """`init`, `warmStart`, `update` or `export`."""
    root: str
    """Folder of all checkpoints."""
    request: Any
    """As the contract has it, checked against it by whoever asks."""
    files: dict[str, str]
    """Local copies of what the request names in the store: `texts`, `examples` or `batch`."""


def perform(job: Job, send: Callable[[JsonObject], None]) -> None:
    """Sends progress as often as there is any, then one result or one error."""
    logging.set_verbosity_error()
    number = job["id"]
    try:
        result = run(job, lambda phase: send({"id": number, "progress": {"phase": phase}}))
    except TrainerError as error:
        send({"id": number, "error": error_of(error.type, str(error), error.retryable)})
    except Exception as error:
        message = f"The step failed: {type(error).__name__}: {error}"
        send({"id": number, "error": error_of(TrainerError.type, message, True)})
    else:
        send({"id": number, "result": result})


def run(job: Job, report: Report) -> JsonObject:
    root, request, files = Path(job["root"]), job["request"], job.get("files", {})
    match job["job"]:
        case "init":
            return init(root, request, Path(files["texts"]) if "texts" in files else None)
        case "warmStart":
            return warm_start(root, request, Path(files["examples"]), report)
        case "update":
            return update(root, request, Path(files["batch"]), report)
        case "export":
            return export(root, request)
        case unknown:
            raise BadRequest(
                f"There is no job {unknown!r}: ask for init, warmStart, update or export."
            )


def error_of(type: str, message: str, retryable: bool) -> JsonObject:
    return {"type": type, "message": message, "retryable": retryable}
