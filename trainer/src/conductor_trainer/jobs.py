"""What a step process can be asked to do, and how it answers."""

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
    logging.disable_progress_bar()
    number = job["id"]
    try:
        result = _run(job, lambda phase: send({"id": number, "progress": {"phase": phase}}))
    except TrainerError as error:
        send({"id": number, "error": told(error.type, str(error), error.retryable)})
    except Exception as error:
        message = f"The step failed: {type(error).__name__}: {error}"
        send({"id": number, "error": told(TrainerError.type, message, TrainerError.retryable)})
    else:
        send({"id": number, "result": result})


def told(type: str, message: str, retryable: bool) -> JsonObject:
    """An error on its way to the workflow."""
    return {"type": type, "message": message, "retryable": retryable}


def _run(job: Job, report: Callable[[str], None]) -> JsonObject:
    root, request, files = Path(job["root"]).absolute(), job["request"], job["files"]
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
